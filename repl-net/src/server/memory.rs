//! Counts how much memory a server takes, separately for each purpose.
//!
//! *Invariant:* nothing here changes the server.

use repl_link::parts::ServerSessions;

use super::Server;
use super::class_memory::ClassMemory;
use super::world::World;

/// The approximate number of bytes of memory that a server takes for each purpose. [`Server::memory`] returns
/// this struct.
///
/// Not counted are the paths of static objects and of assets, the names of objects, messages that wait to be
/// polled, and buffers that each tick uses again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerMemory {
    /// The objects, shadows and elements of each class, in the order of registration.
    pub classes: Vec<ClassMemory>,
    /// The state of objects that does not depend on the client, except the history of changes.
    pub slot_bytes: usize,
    /// The changes of past ticks that some connection has not sent yet.
    pub history_bytes: usize,
    /// The openings of objects: their spawn data, encoded once for all clients that join.
    pub opening_bytes: usize,
    /// Earlier values of properties that are sent as differences, which clients have.
    pub base_bytes: usize,
    /// State that clients have not acknowledged, the sum of
    /// [`ConnectionStats::memory_bytes`](crate::ConnectionStats::memory_bytes) of all connections.
    pub connection_bytes: usize,
}

impl ServerMemory {
    /// Returns the sum of all fields.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        let of_class = |class: &ClassMemory| class.object_bytes + class.shadow_bytes + class.element_bytes;
        self.classes.iter().map(of_class).sum::<usize>()
            + self.slot_bytes
            + self.history_bytes
            + self.opening_bytes
            + self.base_bytes
            + self.connection_bytes
    }
}

impl Server {
    /// Returns about how many bytes of memory the server takes for each purpose. Costs O(size of all objects
    /// + connections), so do not call it in every tick.
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
            base_bytes: world.revisions.bytes(),
            connection_bytes: peers.values().map(|peer| peer.connection.memory_bytes()).sum(),
        }
    }
}
