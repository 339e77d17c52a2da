//! A handle of one class: the server's methods that set the area, the priority and the update rate of the
//! objects of the class, and what is done before they are compared.
//!
//! *Invariant:* a setting of a class applies to each of its objects that has no setting of its own.

mod area;
mod preparing;
mod priorities;
mod rates;
mod relevancy;

use std::marker::PhantomData;

use repl_core::Replicated;

use super::Server;
use super::rows::OwnRows;
pub(super) use relevancy::no_function;

/// A class of a server's objects, to set their area, priority and update rate. [`Server::class`] returns a
/// `ClassHandle`. Each method returns the handle, so that several can be chained:
///
/// ```
/// # mod repl {
/// #     pub use repl_core::*;
/// #     pub use repl_net::*;
/// # }
/// use repl::{Area, Replicated, Server, ServerConfig, UpdateRate};
///
/// # fn register<Creature: Replicated>(position: fn(&Creature) -> [f32; 2]) {
/// let mut server = Server::new(ServerConfig::default());
/// server
///     .class::<Creature>()
///     .locate(Area::within(100.0), position)
///     .set_priority(2.0)
///     .set_update_rate(UpdateRate::per_second(10.0));
/// # }
/// ```
pub struct ClassHandle<'a, T> {
    server: &'a mut Server,
    class: PhantomData<fn(&T)>,
}

impl Server {
    /// Returns a handle of a class. This does not register the class, but the methods
    /// [`set_area`](ClassHandle::set_area), [`locate`](ClassHandle::locate),
    /// [`before_compare`](ClassHandle::before_compare) and [`reserve`](ClassHandle::reserve) of the handle
    /// do.
    #[must_use]
    pub fn class<T: Replicated>(&mut self) -> ClassHandle<'_, T> {
        ClassHandle { server: self, class: PhantomData }
    }
}

impl<T: Replicated> ClassHandle<'_, T> {
    /// Makes room for `additional` more objects of the class, and registers the class. Spawning as many
    /// objects then takes less time, because the objects that were spawned before are not moved in memory.
    /// The server keeps the room until the objects are spawned.
    ///
    /// ```
    /// # use repl_net::{Server, ServerConfig};
    /// # use repl_core::Replicated;
    /// # fn begin_level<Coin: Replicated + Default>(server: &mut Server) {
    /// server.class::<Coin>().reserve(10_000);
    /// (0..10_000).for_each(|_| _ = server.spawn(Coin::default()));
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as [`register`](Server::register), and if the class is
    /// [external](Server::register_external).
    #[track_caller]
    pub fn reserve(&mut self, additional: usize) -> &mut Self {
        let frozen = self.server.is_registration_over();
        let class = self.server.world.register::<T, OwnRows<T>>(frozen);
        self.server.world.reserve(class, additional);
        self
    }

    /// # Panics
    /// Panics if the class is not registered.
    #[track_caller]
    fn number(&self) -> u16 {
        let name = T::LAYOUT.name();
        let Some(class) = self.server.world.store.class_of::<T>() else {
            panic!("`{name}` is not registered: call `register::<{name}>()` or spawn an object before")
        };
        class
    }
}
