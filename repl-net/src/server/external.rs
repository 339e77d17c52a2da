//! The server's methods for classes whose live objects are outside the server, for example in an ECS.
//!
//! *Invariant:* an object is compared only while its owner lends it. The server stores its shadow and no live
//! copy.

use std::marker::PhantomData;

use repl_core::{ObjectRef, Replicated};

use super::Server;
use super::handed_over::HandedOver;
use crate::session::archetype::ArchetypeId;
use crate::session::events::{CompareError, SpawnError};

/// The objects of a class that live outside the server: in an ECS, or in any other store of yours. The server
/// has only their shadows, which are what clients were sent. Get it by [`Server::external`].
///
/// Before each [`tick`](Server::tick), hand over each object that may have changed since the last one, in any
/// order. The server compares it at once and keeps no reference, so your rows can move between two calls.
/// Everything else is the same as for objects of the server's own: [`despawn`](Server::despawn), owner,
/// conditions, visibility, marks, references.
///
/// ```
/// # use repl_core::{ObjectRef, Replicated};
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
/// fn hand_over<Player: Replicated>(server: &mut Server, rows: &mut [Row<Player>]) -> Result<(), CompareError> {
///     let mut players = server.external::<Player>();
///     for row in rows.iter_mut().filter(|row| row.has_changed) {
///         row.has_changed = false;
///         players.compare(row.object, &row.player)?;
///     }
///     Ok(())
/// }
/// ```
///
/// A whole object is compared each time, also properties that are switched off, are not marked, or are sent
/// only in openings. So you need not hand it over again when a condition is switched on, a property is marked
/// or a client joins: then the values of the last comparison are sent.
///
/// The packets are the same, bit for bit, as if the server had the objects, with three exceptions:
///
/// - A property that changed and changed back may be sent once more, if it could not be sent in between or if
///   the object was handed over several times in a tick.
/// - An `InitialOnly` property, or a `push` property without a mark, that is sent for another reason, for
///   example again after a loss, has the value of the last comparison. That may be a newer one.
/// - Values that may not be sent count for
///   [`max_object_bytes`](crate::ServerConfig::max_object_bytes), too.
pub struct External<'a, T> {
    server: &'a mut Server,
    class: PhantomData<fn(&T)>,
}

impl Server {
    /// Registers a class whose objects live outside the server. See [`External`].
    ///
    /// # Panics
    /// If the class is new and there was a connection already, or if the initial values of its objects take
    /// more than [`max_object_bytes`](crate::ServerConfig::max_object_bytes). Also if the class was registered
    /// for objects of the server's own, which [`spawn`](Self::spawn) and
    /// [`register_archetype`](Self::register_archetype) do too.
    #[track_caller]
    pub fn register_external<T: Replicated>(&mut self) -> &mut Self {
        self.world.register::<T, HandedOver>(self.is_frozen());
        self
    }

    /// The objects of a class that live outside the server, to spawn and compare them. Registers the class if
    /// it is new.
    ///
    /// # Panics
    /// As [`register_external`](Self::register_external).
    #[track_caller]
    pub fn external<T: Replicated>(&mut self) -> External<'_, T> {
        self.register_external::<T>();
        External { server: self, class: PhantomData }
    }
}

impl<T: Replicated> External<'_, T> {
    /// Adds an object with the values of `live`. Returns its reference: store it beside the object, for
    /// example as a component of the same entity.
    ///
    /// # Panics
    /// If [`ServerConfig::max_objects`](crate::ServerConfig::max_objects) slots are taken. Where that can
    /// happen use [`try_spawn_from`](Self::try_spawn_from).
    #[track_caller]
    pub fn spawn(&mut self, live: &T) -> ObjectRef<T> {
        match self.try_spawn_from(ArchetypeId::default(), live) {
            Ok(reference) => reference,
            Err(error) => panic!("{error}"),
        }
    }

    /// Adds an object that clients create from an archetype, if there is room for one more.
    /// `ArchetypeId::default()` is `T::default()`.
    ///
    /// # Errors
    /// When [`ServerConfig::max_objects`](crate::ServerConfig::max_objects) slots are taken. Nothing changes.
    #[track_caller]
    pub fn try_spawn_from(
        &mut self,
        archetype: ArchetypeId<T>,
        live: &T,
    ) -> Result<ObjectRef<T>, SpawnError> {
        let reference = self.server.add(archetype, HandedOver::push)?;
        let unsettled = self.server.world.hand_over(reference, live);
        debug_assert_eq!(unsettled, Ok(false), "a new shadow has followed no other array");
        Ok(reference)
    }

    /// Compares an object with what clients were sent. The next tick sends what differs, as far as conditions
    /// and marks allow. Costs what it costs to compare an object of the server's own.
    ///
    /// It does not compile for a class with fast arrays: use [`compare_mut`](Self::compare_mut).
    ///
    /// # Errors
    /// When the object does not exist, or is not a `T`. Then nothing was compared.
    #[track_caller]
    pub fn compare(&mut self, object: ObjectRef<T>, live: &T) -> Result<(), CompareError> {
        const {
            assert!(
                !T::LAYOUT.table().has_fast_arrays(),
                "a class with fast arrays is handed over as `&mut`: call `compare_mut` instead of `compare`"
            );
        }
        self.server.world.hand_over(object, live).map(|_| ())
    }

    /// As [`compare`](Self::compare), for all classes. If a fast array was assigned over another one, its
    /// items get new ids, because they are new items. Nothing else is written to the object. In an ECS, avoid
    /// that this counts as a change, for example with `bypass_change_detection` in Bevy.
    ///
    /// # Errors
    /// As [`compare`](Self::compare).
    pub fn compare_mut(&mut self, object: ObjectRef<T>, live: &mut T) -> Result<(), CompareError> {
        if self.server.world.hand_over(object, live)?
            && let Some(shadows) = self.server.world.shadows::<T>()
        {
            shadows.class.settle(live);
        }
        Ok(())
    }
}
