//! What a user does with each object of a class before it is compared.
//!
//! *Invariant:* classes without such a function pay nothing for it.

use repl_core::{Edit, Replicated};

use super::ClassHandle;
use crate::server::rows::OwnRows;

impl<T: Replicated> ClassHandle<'_, T> {
    /// Calls `prepare` with each object of the class immediately before the object is compared, for example
    /// to copy the state of a physics engine into properties. The function changes the object with
    /// [setters](crate::Server::edit), which also mark `push` properties, and reads all fields of the object.
    /// The changes are sent in the same tick. Another call replaces the function. If the class is new,
    /// registers it as [`register`](crate::Server::register) does.
    ///
    /// The function is called at most once for an object in a tick, and only in a tick that compares the
    /// object: the object was written to, and its [update rate](Self::set_update_rate) allows an update. So
    /// it is not called for an object that nobody touches, that [sleeps](crate::Dormancy) or is
    /// [paused](crate::ObjectHandle::set_paused). To have it called for an object whose state is elsewhere,
    /// call [`force_update`](crate::ObjectHandle::force_update), or write to any field of the object by
    /// [`get_mut`](crate::Server::get_mut). [`objects_mut`](crate::Server::objects_mut) compares only objects
    /// whose properties differ. A removal also calls the function, if it compares the object for the last
    /// time.
    ///
    /// The order of the objects is not defined. With the feature `rayon`, functions of several classes run at
    /// the same time. A class without a function costs nothing more.
    ///
    /// ```
    /// # use repl_net as repl;
    /// # mod doc {
    /// # use repl_core as repl;
    /// #[derive(repl_derive::Replicated, Default)]
    /// # #[replicated(crate = "repl")]
    /// pub struct Car {
    ///     #[replicated]
    ///     pub speed: f32,
    ///     pub wheel_turns: f32, // stays on the server
    /// }
    /// # }
    /// # use doc::Car;
    /// # let mut server = repl::Server::new(repl::ServerConfig::default());
    /// server.class::<Car>().before_compare(|car| {
    ///     let speed = car.wheel_turns * 2.1;
    ///     car.speed(speed);
    /// });
    /// # let car = server.spawn(Car { wheel_turns: 10.0, ..Car::default() });
    /// # server.tick(std::time::Duration::ZERO);
    /// # assert_eq!(server[car].speed, 21.0);
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as [`register`](crate::Server::register), and if the class is
    /// [external](crate::Server::register_external): prepare such an object before you pass it to the server.
    #[track_caller]
    pub fn before_compare(
        &mut self,
        prepare: impl FnMut(&mut Edit<'_, T>) + Send + Sync + 'static,
    ) -> &mut Self {
        let frozen = self.server.is_registration_over();
        self.server.world.register::<T, OwnRows<T>>(frozen);
        if let Some(shadows) = self.server.world.store.shadows_mut::<T>() {
            shadows.prepare = Some(Box::new(prepare));
        }
        self
    }
}
