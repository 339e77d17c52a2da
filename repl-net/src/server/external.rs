//! External objects: the server's methods for classes with live objects outside the server, for example in an
//! ECS.
//!
//! *Invariant:* the server reads an external object only during a call to which the user passes the object.
//! The server stores a shadow of the object and no live copy.

use std::marker::PhantomData;

use repl_core::{Coordinates, Edit, ObjectRef, Replicated, WithoutFastArrays};

use super::handed_over::HandedOver;
use super::{Server, SpawnKind};
use crate::session::archetype::ArchetypeId;
use crate::session::events::{CompareError, SpawnError, StaticSpawnError};

/// The objects of a class that live outside the server: in an ECS, or in any other store of the user. The
/// server stores only the shadows of external objects, which are their values at the last comparison.
/// [`Server::external`] returns an `External`.
///
/// Before each [`tick`](Server::tick), pass each object that may have changed since the last tick to
/// [`compare`](Self::compare), in any order. The server compares the object immediately and keeps no
/// reference to it, so the user's objects can move in memory between two calls. [`despawn`](Server::despawn),
/// owner, conditions, visibility, marks and references work as for objects that the server owns.
///
/// ```
/// # use repl_core::{Edit, ObjectRef, Replicated, WithoutFastArrays};
/// # use repl_net::{CompareError, Server};
/// struct Row<Player> {
///     object: ObjectRef<Player>,
///     player: Player,
///     has_changed: bool,
/// }
///
/// // Before the first connection: `server.register_external::<Player>()`.
/// fn add<Player: Replicated>(server: &mut Server, rows: &mut Vec<Row<Player>>, player: Player) {
///     let object = server.external().spawn(&player);
///     rows.push(Row { object, player, has_changed: false });
/// }
///
/// // In each tick, before `server.tick`.
/// fn hand_over<T>(server: &mut Server, rows: &mut [Row<T>]) -> Result<(), CompareError>
/// where
///     T: Replicated + WithoutFastArrays,
/// {
///     let mut players = server.external::<T>();
///     for row in rows.iter_mut().filter(|row| row.has_changed) {
///         row.has_changed = false;
///         players.compare(row.object, &row.player)?;
///     }
///     Ok(())
/// }
/// ```
///
/// Each call compares the whole object, also properties that are switched off, that are not marked, or that
/// are sent only when a client creates the object. When a condition is switched on, a property is marked or a
/// client joins, the server sends the values of the last comparison, so you need not pass the object again.
///
/// The packets are the same, bit for bit, as if the server owned the objects, with five exceptions:
///
/// - A property that changed and then changed back to its old value may be sent again. This happens if the
///   first change could not be sent before the second one, or if the object was compared several times in a
///   tick. In these cases, a quantised property may also be one step higher or lower.
/// - An `InitialOnly` property, or a `push` property without a mark, is sometimes sent although it is not
///   due, for example again after a loss. It then has the value of the last comparison, which may be newer
///   than the value that was sent before.
/// - Values that are not sent because of a condition or a missing mark also count towards
///   [`max_object_bytes`](crate::ServerConfig::max_object_bytes).
/// - A change of any property that is sent moves the object to its [position](crate::ClassHandle::locate) in
///   the last comparison, even if the property with the position may not be sent.
/// - If collections of an object grow while a client joins, the client may learn a few ticks earlier or later
///   that it has joined.
///
/// If an object may have changed, compare it before you despawn it: clients receive the values of the last
/// comparison as its last state.
pub struct External<'a, T> {
    server: &'a mut Server,
    class: PhantomData<fn(&T)>,
}

impl Server {
    /// Registers a class of objects that live outside the server. [`External`] describes such classes.
    ///
    /// Panics if the class is new after the first [`connect`](Self::connect), if another class has the same
    /// name, or if the initial values of its objects take more than
    /// [`max_object_bytes`](crate::ServerConfig::max_object_bytes). The method also panics if the class was
    /// registered before for objects that the server owns. The methods [`register`](Self::register),
    /// [`reserve`](crate::ClassHandle::reserve), [`spawn`](Self::spawn),
    /// [`register_archetype`](Self::register_archetype), [`register_calls`](Self::register_calls),
    /// [`set_area`](crate::ClassHandle::set_area) and [`locate`](crate::ClassHandle::locate) register a class
    /// in this way.
    #[track_caller]
    pub fn register_external<T: Replicated>(&mut self) -> &mut Self {
        self.world.register::<T, HandedOver>(self.is_registration_over());
        self
    }

    /// Returns the objects of a class that live outside the server, to spawn and compare them. If the class
    /// is new, registers it.
    ///
    /// # Panics
    /// Panics in the same cases as [`register_external`](Self::register_external).
    #[track_caller]
    pub fn external<T: Replicated>(&mut self) -> External<'_, T> {
        self.register_external::<T>();
        External { server: self, class: PhantomData }
    }
}

impl<T: Replicated> External<'_, T> {
    /// Adds an object with the values of `live` to the server. `spawn` returns a reference to the object.
    /// Store this reference together with the object, for example as a component of the same entity.
    ///
    /// # Panics
    /// Panics if [`ServerConfig::max_objects`](crate::ServerConfig::max_objects) slots are taken. If slots
    /// can run out, use [`try_spawn_from`](Self::try_spawn_from).
    #[track_caller]
    pub fn spawn(&mut self, live: &T) -> ObjectRef<T> {
        match self.try_spawn_from(ArchetypeId::default(), live) {
            Ok(reference) => reference,
            Err(error) => panic!("{error}"),
        }
    }

    /// Adds an object that clients create from an archetype, if a slot is free. `ArchetypeId::default()`
    /// stands for `T::default()`.
    ///
    /// # Errors
    /// Returns an error if [`ServerConfig::max_objects`](crate::ServerConfig::max_objects) slots are taken.
    /// If the object cannot be added, nothing changes.
    ///
    /// # Panics
    /// Panics if `archetype` was not returned by [`register_archetype`](Server::register_archetype) of this
    /// server.
    #[track_caller]
    pub fn try_spawn_from(
        &mut self,
        archetype: ArchetypeId<T>,
        live: &T,
    ) -> Result<ObjectRef<T>, SpawnError> {
        self.add(archetype, SpawnKind::Plain, live)
    }

    /// Adds an object that clients know by a path, as [`Statics::spawn`](crate::Statics::spawn) does, if the
    /// path and a slot are free.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Statics::try_spawn`](crate::Statics::try_spawn).
    #[track_caller]
    pub fn try_spawn_static(&mut self, path: &str, live: &T) -> Result<ObjectRef<T>, StaticSpawnError> {
        let kind = self.server.static_kind(path)?;
        Ok(self.add(ArchetypeId::default(), kind, live)?)
    }

    /// Adds an object as a subobject of another object, as
    /// [`ObjectHandle::spawn_subobject`](crate::ObjectHandle::spawn_subobject) does. For example, the parent
    /// is the root of an entity, and the new object is a component of this entity. Returns `None` if the
    /// parent does not exist or is torn off.
    ///
    /// # Panics
    /// Panics in the same cases as [`spawn`](Self::spawn).
    #[track_caller]
    pub fn spawn_subobject<P: ?Sized>(&mut self, parent: ObjectRef<P>, live: &T) -> Option<ObjectRef<T>> {
        match self.try_spawn_subobject(parent, live) {
            Ok(reference) => reference,
            Err(error) => panic!("{error}"),
        }
    }

    /// Does the same as [`spawn_subobject`](Self::spawn_subobject), if a slot is free.
    ///
    /// # Errors
    /// Returns an error if [`ServerConfig::max_objects`](crate::ServerConfig::max_objects) slots are taken.
    /// If the object cannot be added, nothing changes.
    #[track_caller]
    pub fn try_spawn_subobject<P: ?Sized>(
        &mut self,
        parent: ObjectRef<P>,
        live: &T,
    ) -> Result<Option<ObjectRef<T>>, SpawnError> {
        let Some(kind) = self.server.subobject_kind(parent) else { return Ok(None) };
        self.add(ArchetypeId::default(), kind, live).map(Some)
    }

    #[track_caller]
    fn add(
        &mut self,
        archetype: ArchetypeId<T>,
        kind: SpawnKind,
        live: &T,
    ) -> Result<ObjectRef<T>, SpawnError> {
        let reference = self.server.add(archetype, kind, |shadows, rows: &mut HandedOver| {
            rows.push();
            shadows.position_of(live)
        })?;
        let must_renumber = self.server.world.compare_external(reference, live);
        debug_assert_eq!(must_renumber, Ok(false), "a new shadow has followed no other array");
        Ok(reference)
    }

    /// Compares an object with its values at the last comparison. The next tick sends the values that differ,
    /// as far as conditions and marks allow. A call costs as much as comparing an object that the server
    /// owns.
    ///
    /// This method does not compile for a class with fast arrays. For classes with fast arrays, use
    /// [`compare_mut`](Self::compare_mut). A function for all classes `T` needs `T: WithoutFastArrays`.
    ///
    /// # Errors
    /// Returns an error if the object does not exist or is not a `T`. If the object is not valid, nothing was
    /// compared.
    #[track_caller]
    pub fn compare(&mut self, object: ObjectRef<T>, live: &T) -> Result<(), CompareError>
    where
        T: WithoutFastArrays,
    {
        // Only generic classes can fail here, because their fields depend on their arguments.
        const {
            assert!(
                !T::LAYOUT.table().has_fast_arrays(),
                "a class with fast arrays is handed over as `&mut`: call `compare_mut` instead of `compare`"
            );
        }
        self.server.world.compare_external(object, live).map(|_| ())
    }

    /// Does the same as [`compare`](Self::compare), but for objects of any class. If a fast array was
    /// assigned over another fast array, its items are new and receive new ids. `compare_mut` writes nothing
    /// except new ids to the object. In an ECS, make sure that the write of new ids does not count as a
    /// change, for example with `bypass_change_detection` in Bevy.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`compare`](Self::compare).
    pub fn compare_mut(&mut self, object: ObjectRef<T>, live: &mut T) -> Result<(), CompareError> {
        if self.server.world.compare_external(object, live)?
            && let Some(shadows) = self.server.world.store.shadows::<T>()
        {
            shadows.class.renumber_items(live);
        }
        Ok(())
    }

    /// Sets the position of an object whose class has a [placed area](crate::ClassHandle::set_placed_area):
    /// the object has no field for the position. The position may be, for example, in another component of
    /// its entity. The next tick shows the object to the connections that now see it, and removes it from the
    /// clients that no longer see it. Its subobjects and the objects that are
    /// [attached](crate::Relevancy::AttachedTo) to it appear and disappear with it. The position is not sent.
    /// Place an object after it was spawned, and again whenever it has moved. If a coordinate is not finite,
    /// only the owner sees the object, as before it was placed. Costs O(1).
    ///
    /// ```
    /// # mod repl {
    /// #     pub use repl_core::*;
    /// #     pub use repl_net::*;
    /// # }
    /// use repl::{Area, ObjectRef, Replicated, Server};
    ///
    /// // Before the first connection.
    /// fn register<Root: Replicated>(server: &mut Server) {
    ///     server.class::<Root>().set_placed_area(Area::within(60.0).flat());
    /// }
    ///
    /// fn spawn<Root: Replicated + Default>(server: &mut Server, position: [f32; 2]) -> ObjectRef<Root> {
    ///     let root = server.external().spawn(&Root::default());
    ///     server.external().place(root, position).expect("it was just spawned");
    ///     root
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the object does not exist or is not a `T`.
    ///
    /// # Panics
    /// Panics if the class has no placed area.
    #[track_caller]
    pub fn place(&mut self, object: ObjectRef<T>, position: impl Coordinates) -> Result<(), CompareError> {
        self.server.world.place(object, position.coordinates())
    }

    /// Changes an object with the setters that [`Server::edit`] describes, and compares only the changed
    /// properties, with or without `push`. They count as marked, so the next tick sends them as far as
    /// conditions allow. If one element of a fixed array is changed, the whole array is compared. You need
    /// not pass the object to [`compare`](Self::compare). Costs O(1), and the comparison of the properties
    /// that were marked.
    ///
    /// New ids of items are written to `live`, as by [`compare_mut`](Self::compare_mut).
    ///
    /// ```
    /// # use repl_net::{CompareError, Server};
    /// # use repl_core::ObjectRef;
    /// # mod doc {
    /// # use repl_core as repl;
    /// # #[derive(repl_derive::Replicated, Default)]
    /// # #[replicated(crate = "repl")]
    /// pub struct Player {
    ///     #[replicated(push)]
    ///     pub health: u16,
    /// }
    /// # }
    /// # use doc::Player;
    ///
    /// fn heal(server: &mut Server, object: ObjectRef<Player>, player: &mut Player) -> Result<(), CompareError> {
    ///     server.external().edit(object, player, |player| {
    ///         player.health(100);
    ///     })
    /// }
    /// # let mut server = Server::new(repl_net::ServerConfig::default());
    /// # let mut player = Player::default();
    /// # let object = server.external().spawn(&player);
    /// # assert_eq!(heal(&mut server, object, &mut player), Ok(()));
    /// # assert_eq!(player.health, 100);
    /// ```
    ///
    /// # Errors
    /// Returns an error if the object does not exist or is not a `T`. Then nothing was changed.
    pub fn edit<R>(
        &mut self,
        object: ObjectRef<T>,
        live: &mut T,
        change: impl FnOnce(&mut Edit<'_, T>) -> R,
    ) -> Result<R, CompareError> {
        self.server.world.edit_external(object, live, change)
    }
}
