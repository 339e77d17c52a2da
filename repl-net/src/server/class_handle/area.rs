//! Sets where the objects of a class are, and up to which distance connections see them.
//!
//! *Invariant:* an area is set before the class has objects, so each object of the class is in a cell of the
//! area.

use repl_core::{Coordinates, Located, Replicated};

use super::ClassHandle;
use crate::server::cells::area::Area;
use crate::server::rows::OwnRows;
use crate::server::shadows::Locate;

impl<T: Replicated> ClassHandle<'_, T> {
    /// Sets up to which distance connections see the objects of the class: a connection sees only objects
    /// near its [viewpoints](crate::ConnectionHandle::set_viewpoints). The position of an object is its field
    /// with `#[replicated(location)]`. To compute positions in another way, call [`locate`](Self::locate)
    /// instead. If the field has only two coordinates, the area is [flat](Area::flat). If the class is new,
    /// registers it as [`register`](crate::Server::register) does. For an external class, call
    /// [`register_external`](crate::Server::register_external) first.
    ///
    /// The rules of [`locate`](Self::locate) for positions and for moving objects apply here too.
    ///
    /// # Panics
    /// Panics in the same cases as [`locate`](Self::locate).
    #[track_caller]
    pub fn set_area(&mut self, area: Area) -> &mut Self
    where
        T: Located,
    {
        let class = self.class_for_area("set_area");
        self.settle(class, area.flat_if(T::IS_FLAT), Some(Box::new(T::location)))
    }

    /// Sets up to which distance connections see the objects of the class: a connection sees only objects
    /// near its [viewpoints](crate::ConnectionHandle::set_viewpoints). `position` returns the position of an
    /// object. It may read only properties, because it is called with a copy of the object in which all other
    /// fields have their initial values. If it returns two [coordinates](Coordinates), the area is
    /// [flat](Area::flat). If the class is new, registers it as [`register`](crate::Server::register) does.
    /// For an external class, call [`register_external`](crate::Server::register_external) first. If the
    /// position is a field of the class, write `#[replicated(location)]` on it, and call
    /// [`set_area`](Self::set_area).
    ///
    /// If the value of a property was [refused](crate::ServerEvent::ValueRefused), this copy has the last
    /// value that was accepted. The elements of an array are refused one by one, so a `[f32; 3]` with a NaN
    /// becomes a mix of old and new coordinates. A type that derives only `NetSerialize` is refused as a
    /// whole.
    ///
    /// When an object moves to another cell, other connections may see it. This takes effect in the tick
    /// after the tick that compares its position. With an [update rate](Self::set_update_rate), the position
    /// is compared only at the update times of the object, and until then the same connections see the
    /// object. Viewpoints take effect at the next tick. Call
    /// [`force_update`](crate::ObjectHandle::force_update) for an object that jumps. The server does not see
    /// a new position that it does not compare: of a `push` property that is not marked, of a property with
    /// the condition `InitialOnly` after the client has the object, or of a property that is [switched
    /// off](crate::ObjectHandle::set_custom_active). For an [external](crate::External) object, the server
    /// may see the new position nevertheless.
    ///
    /// ```
    /// # mod repl {
    /// #     pub use repl_core::*;
    /// #     pub use repl_net::*;
    /// # }
    /// use repl::{Area, Replicated, Server, ServerConfig};
    ///
    /// # fn register<Creature: Replicated>(position: fn(&Creature) -> [f32; 2]) {
    /// let mut server = Server::new(ServerConfig::default());
    /// server.class::<Creature>().locate(Area::within(100.0), position);
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics after the first [`connect`](crate::Server::connect), if the class has objects already, if the
    /// cells of the area are too small for its [second radius](Area::keep_within), if one of its
    /// [bands](Area::slower_beyond) begins beyond that radius, or if everything within that radius is
    /// [near](Area::near_within).
    #[track_caller]
    pub fn locate<C: Coordinates>(
        &mut self,
        area: Area,
        position: impl Fn(&T) -> C + Send + Sync + 'static,
    ) -> &mut Self {
        let position = move |object: &T| position(object).coordinates();
        let class = self.class_for_area("locate");
        self.settle(class, area.flat_if(C::IS_FLAT), Some(Box::new(position)))
    }

    /// Sets up to which distance connections see the objects of an [external](crate::External) class that
    /// have no field for their position. For example, the position of an entity may be in another component.
    /// [`External::place`](crate::External::place) sets the position of an object. An object that was not
    /// placed yet is seen only by its owner. If the class is new, registers it as
    /// [`register_external`](crate::Server::register_external) does. If all objects move in a plane, pass a
    /// [flat](Area::flat) area.
    ///
    /// # Panics
    /// Panics in the same cases as [`locate`](Self::locate), and if the server owns the objects of the class.
    #[track_caller]
    pub fn set_placed_area(&mut self, area: Area) -> &mut Self {
        self.server.register_external::<T>();
        let class = self.class_for_area("set_placed_area");
        self.settle(class, area, None)
    }

    /// Returns the number of the class, if its area may still be set. If the class is new, registers it.
    /// `method` is the name of the method that the user called.
    #[track_caller]
    fn class_for_area(&mut self, method: &str) -> u16 {
        let name = T::LAYOUT.name();
        assert!(
            !self.server.is_registration_over(),
            "areas are set before the first connection: call `class::<{name}>().{method}` before `connect`"
        );
        let world = &mut self.server.world;
        let class = world.store.class_of::<T>().unwrap_or_else(|| world.register::<T, OwnRows<T>>(false));
        let is_empty = world.store.shadows::<T>().is_some_and(|shadows| shadows.rows.is_empty());
        assert!(
            is_empty,
            "areas are set before the first object: call `class::<{name}>().{method}` before `spawn`"
        );
        class
    }

    /// Sets the area of the class, and the function that returns the position of an object. `position` is
    /// `None` if the user places the objects.
    #[track_caller]
    fn settle(&mut self, class: u16, area: Area, position: Option<Box<dyn Locate<T>>>) -> &mut Self {
        area.check();
        let world = &mut self.server.world;
        let Some(shadows) = world.store.shadows_mut::<T>() else { unreachable!("the class is registered") };
        shadows.locate = position;
        world.cells.set_area(class, area);
        self
    }
}
