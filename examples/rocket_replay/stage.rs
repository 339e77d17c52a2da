//! The stage: the recording's actors as objects of the server.
//!
//! *Invariant:* `actors` contains every actor that is open in the recording, and the server has no other
//! object.

use std::collections::BTreeMap;

use boxcars::{Attribute, Frame, NewActor, ObjectId};
use repl::prelude::*;

use crate::lacks::{self, Lack, Lacks};
use crate::model::{
    Actor, Ball, Boost, BoostPad, Camera, Car, Component, Game, Key, Opening, Platform, Player, Team, Thing,
};
use crate::recording::{Change, Recording};
use crate::values::Mirror;

/// Declares the functions for an object of any class.
macro_rules! classes {
    ($($class:ident)*) => {
        /// One of the classes of the model.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Class { $($class,)* }

        /// An object of any class.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Handle { $($class(ObjectRef<$class>),)* }

        impl Class {
            /// Every class, ascending by its number.
            pub(crate) const ALL: &[Self] = &[$(Self::$class,)*];

            /// Returns the name of the class.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$class => $class::NAME,)* }
            }

            fn spawn(self, server: &mut Server, opening: Opening) -> Handle {
                match self {$(
                    Self::$class => {
                        let mut actor = $class::default();
                        *actor.opening() = opening;
                        Handle::$class(server.spawn(actor))
                    }
                )*}
            }
        }

        impl Handle {
            /// Returns the class of the object.
            pub(crate) fn class(self) -> Class {
                match self { $(Self::$class(_) => Class::$class,)* }
            }

            /// Sets a property to the values of a frame. Returns false if the class has no field for these
            /// values.
            fn set(self, server: &mut Server, key: &Key<'_>, values: &[&Attribute]) -> bool {
                match self { $(Self::$class(object) => server[object].set(key, values),)* }
            }

            fn open_again(self, server: &mut Server, opening: Opening) {
                match self { $(Self::$class(object) => *server[object].opening() = opening,)* }
            }

            fn despawn(self, server: &mut Server) {
                match self { $(Self::$class(object) => { server.despawn(object); })* }
            }

            /// Returns whether the client's object has these values.
            pub(crate) fn holds(self, client: &Client, key: &Key<'_>, values: &[&Attribute]) -> bool {
                match self {
                    $(Self::$class(object) => client.get(object).is_some_and(|actor| actor.holds(key, values)),)*
                }
            }

            /// Returns whether the client's object was opened with this content.
            pub(crate) fn is_opened_as(self, client: &Client, opened: &NewActor) -> bool {
                let opening = Opening::of(opened);
                match self {
                    $(Self::$class(object) => {
                        client.get(object).is_some_and(|actor| actor.opened().identical(&opening))
                    })*
                }
            }
        }

        /// Registers the classes at a server or a client.
        pub(crate) fn register(side: &mut impl Register) {
            $(side.register::<$class>();)*
        }

        /// Returns how many objects a client has.
        pub(crate) fn objects_at_client(client: &Client) -> usize {
            [$(client.objects::<$class>().count(),)*].iter().sum()
        }
    };
}

classes! { Ball Car Boost Component Player Camera Team Game BoostPad Platform Thing }

impl Class {
    /// Returns the class of an archetype.
    pub(crate) fn of(archetype: &str) -> Self {
        let name = archetype.rsplit('.').next().unwrap_or_default();
        let classes = [
            ("Ball_", Self::Ball),
            ("Car_", Self::Car),
            ("CarComponent_Boost", Self::Boost),
            ("CarComponent_", Self::Component),
            ("SpecialPickup_", Self::Component),
            ("Default__PRI_TA", Self::Player),
            ("Default__CameraSettingsActor_TA", Self::Camera),
            ("Team", Self::Team),
            ("GameEvent_", Self::Game),
            ("VehiclePickup_Boost_TA", Self::BoostPad),
            ("BreakOutActor_Platform_TA", Self::Platform),
        ];
        classes
            .into_iter()
            .find(|(prefix, _)| name.starts_with(prefix))
            .map_or(Self::Thing, |(_, class)| class)
    }
}

/// The open actors.
#[derive(Default)]
pub(crate) struct Stage {
    actors: BTreeMap<i32, Open>,
    /// How many frames were played.
    frames: usize,
    /// The updates that were not replicated.
    pub(crate) lacks: Lacks,
    /// The statistics of the replay so far.
    pub(crate) played: Played,
}

/// An open actor: its object, its archetype and its name. The last two distinguish it from a later actor with
/// the same number.
#[derive(Clone, Copy)]
struct Open {
    handle: Handle,
    archetype: ObjectId,
    name: Option<i32>,
}

/// How much of a recording was replicated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Played {
    /// How many updates, openings and closings the recording has until now.
    pub(crate) events: u64,
    /// How many of these the objects of the server have followed.
    pub(crate) covered: u64,
    pub(crate) updates: u64,
    /// How many actors were opened that were not open before. Each is a new object.
    pub(crate) spawned: u64,
    pub(crate) despawned: u64,
}

impl Stage {
    /// Applies the changes of a frame's actors to the server's objects. Returns for each change whether the
    /// classes can hold it.
    pub(crate) fn play(
        &mut self,
        server: &mut Server,
        recording: &Recording,
        frame: &Frame,
        changes: &[Change<'_>],
    ) -> Vec<bool> {
        // The decoder lists closings, openings and updates separately. An actor in the first two lists was
        // closed before it was opened.
        for actor in &frame.deleted_actors {
            self.close(server, actor.0);
        }
        for opened in &frame.new_actors {
            self.open(server, Class::of(recording.name(opened.object_id)), opened);
        }
        let mut is_played = Vec::with_capacity(changes.len());
        for change in changes {
            let (key, updates) = (recording.key(change.property), change.values.len() as u64);
            let lack = match self.handle(change.actor) {
                Some(handle) if handle.set(server, &key, &change.values) => None,
                Some(handle) => Some(Lack::Property {
                    name: key.name.to_owned(),
                    kinds: lacks::kinds(&change.values),
                    class: handle.class().name(),
                }),
                None => Some(Lack::OfClosed(key.name.to_owned())),
            };
            self.played.updates += updates;
            is_played.push(lack.is_none());
            self.count(updates, lack);
        }
        self.frames += 1;
        is_played
    }

    /// Returns the object of an open actor.
    pub(crate) fn handle(&self, actor: i32) -> Option<Handle> {
        self.actors.get(&actor).map(|open| open.handle)
    }

    fn open(&mut self, server: &mut Server, class: Class, opened: &NewActor) {
        let opening = Opening::of(opened);
        let (archetype, name) = (opened.object_id, opened.name_id);
        match self.actors.get(&opened.actor_id.0) {
            // A key frame (a frame with the whole state) opens all actors again.
            Some(open) if (open.archetype, open.name) == (archetype, name) => {
                open.handle.open_again(server, opening);
            }
            replaced => {
                if let Some(open) = replaced {
                    open.handle.despawn(server);
                    self.played.despawned += 1;
                }
                let handle = class.spawn(server, opening);
                self.actors.insert(opened.actor_id.0, Open { handle, archetype, name });
                self.played.spawned += 1;
            }
        }
        self.count(1, None);
    }

    fn close(&mut self, server: &mut Server, actor: i32) {
        let closed = self.actors.remove(&actor);
        if let Some(open) = closed {
            open.handle.despawn(server);
            self.played.despawned += 1;
        }
        self.count(1, closed.is_none().then_some(Lack::Closing));
    }

    /// Counts events of the recording. `lack` says why they were not replicated, or is `None` if they were.
    fn count(&mut self, events: u64, lack: Option<Lack>) {
        self.played.events += events;
        match lack {
            Some(lack) => self.lacks.add(lack, events, self.frames),
            None => self.played.covered += events,
        }
    }
}
