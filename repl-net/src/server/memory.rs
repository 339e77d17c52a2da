//! How much memory a server takes, by what it is for.
//!
//! *Invariant:* nothing here changes the server.

use repl_link::parts::ServerSessions;

use super::Server;
use super::class_memory::ClassMemory;
use super::world::World;

/// About how many bytes of memory a server takes, by what they are for. [`Server::memory`] returns it.
///
/// Not counted are what the values of a program have on their own heaps (the elements of its `Vec`s, the items of its
/// fast arrays), messages that wait to be polled, and buffers that are used again in each tick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerMemory {
    /// The objects and shadows of each class, in the order of registration.
    pub classes: Vec<ClassMemory>,
    /// What the server knows of each object for all clients together, beside its changes.
    pub slot_bytes: usize,
    /// The changes of objects that some client has not been sent yet.
    pub history_bytes: usize,
    /// The openings of objects, encoded for clients that join.
    pub opening_bytes: usize,
    /// What clients have not acknowledged, as [`ConnectionStats::memory_bytes`](crate::ConnectionStats::memory_bytes) counts it for each.
    pub connection_bytes: usize,
}

impl ServerMemory {
    /// Returns the sum of all.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        let classes = self.classes.iter().map(|class| class.object_bytes + class.shadow_bytes);
        classes.sum::<usize>()
            + self.slot_bytes
            + self.history_bytes
            + self.opening_bytes
            + self.connection_bytes
    }
}

impl Server {
    /// Returns about how many bytes of memory the server takes, by what they are for. Costs O(objects +
    /// connections), so call it now and then, and not in every tick.
    ///
    /// ```
    /// # use repl_core::Replicated;
    /// # use repl_net::Server;
    /// fn print_memory(server: &Server) {
    ///     let memory = server.memory();
    ///     for class in &memory.classes {
    ///         println!("{}: {} objects, {} B of shadows", class.class, class.objects, class.shadow_bytes);
    ///     }
    ///     println!("{} B in total", memory.total_bytes());
    /// }
    /// ```
    #[must_use]
    pub fn memory(&self) -> ServerMemory {
        let Self { world, broadcast, sessions: ServerSessions { peers, .. }, .. } = self;
        let World { store, .. } = world;
        ServerMemory {
            classes: store.columns().map(|column| column.memory()).collect(),
            slot_bytes: store.slot_bytes(),
            history_bytes: store.objects.iter().map(|object| object.history.heap_bytes()).sum(),
            opening_bytes: broadcast.opening_bytes(),
            connection_bytes: peers.values().map(|peer| peer.connection.memory_bytes()).sum(),
        }
    }
}
