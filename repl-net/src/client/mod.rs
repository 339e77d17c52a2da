//! The client: receives objects, acknowledges packets, and calls notifies.
//!
//! *Invariant:* bytes from the server never cause a panic and never decide how much memory is allocated. A
//! packet is applied as a whole or not at all (R20).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod asset_table;
mod assets;
mod bases;
mod clock;
mod connection_info;
mod departed;
mod detached;
mod kept_bases;
mod keyed_objects;
mod lists;
mod mentions;
mod messages;
mod notifies;
mod object_handle;
mod object_info;
mod outcome;
mod packets;
mod path_table;
mod reconnecting;
mod replica;
mod replicas;
mod rows;
mod slot_table;
mod spawn;
mod statics;
mod validated_entries;
mod view;

use std::ops::{Index, IndexMut};
use std::time::Duration;

use repl_core::{Epoch, Guid, ObjectRef, Objects, Replicated};
use repl_link::Session;
use repl_link::parts::ClientSession;

use crate::body::State;
use crate::body::rate::Rate;
use crate::body::status::StatusSink;
use crate::session::archetype::ArchetypeId;
use crate::session::client_events::ClientEvents;
use crate::session::config::ClientConfig;
use crate::session::events::ClientEvent;
use replicas::Replicas;

pub use assets::ClientAssets;
pub use clock::ServerClock;
pub use connection_info::{ClientConnectionInfo, ClientStats};
pub use object_handle::ClientObjectHandle;
pub use object_info::ClientObjectInfo;
pub use repl_link::ReceiveError;
pub use replicas::Placed;
pub use spawn::SpawnedByAClient;
pub use statics::ClientStatics;

/// A client. It has copies of the server's objects that it may see, and updates these copies.
///
/// In each tick, the user passes the packets that arrived to [`receive`](Self::receive), calls
/// [`tick`](Self::tick), and sends the packets from [`poll_transmit`](Self::poll_transmit).
///
/// The methods, grouped by what they access:
///
/// - All objects: [`get`](Self::get) or `client[object]`, [`objects`](Self::objects),
///   [`owned_objects`](crate::LocalPlayer::owned_objects). [`poll_update`](Self::poll_update) reports their
///   changes.
/// - One object: [`object_info`](Self::object_info) returns what the client knows about it, and
///   [`object`](Self::object) undoes edits.
/// - The connection: [`poll_event`](Self::poll_event), [`is_connected`](Self::is_connected),
///   [`connection_info`](Self::connection_info), [`disconnect`](Self::disconnect).
/// - Data to the server: [`send`](Self::send), [`call`](Self::call), [`inputs`](Self::inputs).
/// - Data from the server: [`poll_message`](Self::poll_message), [`poll_call`](Self::poll_call).
/// - Objects of levels, and assets: [`statics`](Self::statics), [`assets`](Self::assets).
/// - Time: [`clock`](Self::clock), [`server_tick`](Self::server_tick).
pub struct Client {
    pub(crate) config: ClientConfig,
    /// The session with the server, including everything that is sent and received in it.
    pub(crate) session: ClientSession<State>,
    pub(crate) replicas: Replicas,
    /// Functions that run at the beginning of each tick: one for each class with remote calls, which runs the
    /// calls that wait, and one for each type of inputs.
    pub(crate) runners: Vec<fn(&mut Self, Duration)>,
    events: ClientEvents,
    /// The object of the update that was polled last, if that update reported the object's removal.
    last_departed: Option<ObjectRef<()>>,
    status: StatusSink,
    clock: ServerClock,
    is_synchronized: bool,
}

impl Client {
    /// Returns a client on which no classes are registered yet.
    ///
    /// `session` distinguishes this client's session from all other sessions of the same server. Every packet
    /// belongs to one session, and packets of other sessions count as damaged.
    ///
    /// # Panics
    /// Panics if a field of `config` is out of the range in its description. The message of the panic names
    /// the field.
    #[must_use]
    #[track_caller]
    pub fn new(config: ClientConfig, session: Session) -> Self {
        config.assert_valid();
        Self {
            session: ClientSession::new(session, &config.terms(), Rate::new),
            replicas: Replicas::new(&config),
            runners: Vec::new(),
            events: ClientEvents::default(),
            last_departed: None,
            status: StatusSink::default(),
            clock: ServerClock::default(),
            is_synchronized: false,
            config,
        }
    }

    /// Registers the class of an object type. The server must register the same classes, in any order.
    ///
    /// # Panics
    /// Panics after the first [`tick`](Self::tick).
    #[track_caller]
    pub fn register<T: Replicated>(&mut self) -> &mut Self {
        self.assert_registers("class", T::LAYOUT.name());
        self.replicas.register::<T>();
        self
    }

    /// Registers an archetype: a set of initial values for objects. The server must register the same
    /// archetypes. The archetypes of one class must be registered in the same order on both sides.
    ///
    /// # Panics
    /// Panics after the first [`tick`](Self::tick).
    #[track_caller]
    pub fn register_archetype<T: Replicated>(
        &mut self,
        make: impl Fn() -> T + Send + Sync + 'static,
    ) -> ArchetypeId<T> {
        self.assert_registers("the archetypes of", T::LAYOUT.name());
        ArchetypeId::new(self.replicas.register::<T>().add_archetype(Box::new(make)))
    }

    /// Makes the client apply each update by a walk over all properties of the class, which is the slowest
    /// way. Tests compare its results with those of the faster ways.
    #[doc(hidden)]
    pub fn walk_only(&mut self) {
        self.replicas.walks_only = true;
    }

    /// Panics if the client may not register anything any more. `what` and `name` are for the panic message.
    #[track_caller]
    pub(crate) fn assert_registers(&self, what: &str, name: &str) {
        assert!(self.session.may_register(), "{what} `{name}` must be registered before the first `tick`");
    }

    /// Returns whether the server has accepted this client, and no side has ended the connection since then.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.session.is_connected()
    }

    /// Returns the next event, or `None` if there are no more events.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop()
    }

    /// Returns an object if it exists and its class is `T`.
    #[must_use]
    pub fn get<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        self.replicas.get(object)
    }

    /// Returns a mutable reference to an object, to change it only on this client, for example for
    /// prediction. The change is not sent to the server. `client[object]` does the same, and panics if the
    /// object does not exist. A client has no method `objects_mut` like the one of a
    /// [`Server`](crate::Server), because it would copy every object.
    ///
    /// # How long an edit lasts
    ///
    /// **An edit lasts until the next update of the same property. Then the property has the value that the
    /// server sent.** A property is a field of the object with its whole content: a value, an array, an
    /// `Option`, a map, a set or a fast array. Therefore an update of one element undoes all edits of its
    /// collection, at any depth: changed values, elements that were added, removed or moved, and the
    /// assignment of another collection. After an update, a collection is never a mixture of edited and
    /// received elements. Updates of other properties do not undo the edit. If a reference in a property is
    /// resolved again because its object was created or removed, this counts as an update of the property.
    ///
    /// **Only items that the client adds to a fast array remain**: items from `push`, `insert` or `extend`,
    /// with [local](repl_core::ItemId::is_local) ids. They remain until the client removes them, until the
    /// whole array is assigned, or until the element that contains the array is removed.
    ///
    /// The notify of a property runs if the new value differs from the edited value. Callbacks of elements
    /// report the difference between the client's edited elements and the new elements. This includes the
    /// edits that the update undid.
    ///
    /// Notifies and callbacks of an object with arrays or collections may also edit this object. Two kinds of
    /// edits count as received from the server, so that they may last until the server changes the value:
    /// everything that a callback of an object writes to other objects, and everything that a callback of an
    /// element writes.
    ///
    /// [`restore`](crate::ClientObjectHandle::restore) undoes edits at once.
    ///
    /// # Cost
    ///
    /// If the client has no copy of the values that the server sent, it makes a copy now. This costs O(size
    /// of the object), and the memory of the object plus about 40 bytes. Updates are applied to the object
    /// and to the copy. If the object has no arrays and no collections, its copy is dropped as soon as the
    /// object equals it after an update. Other objects keep their copies until they are removed. If a class
    /// with arrays or collections has notifies or callbacks, its objects have a copy from their first notify
    /// or callback on.
    ///
    /// After each borrow, the next update of a property compares the property with the copy. This costs
    /// O(size of the property). For a fast array that is a field of the object, it costs only O(edits),
    /// because a fast array marks the items that were written to. It does not mark writes through
    /// `unmarked_mut`.
    pub fn get_mut<T: Replicated>(&mut self, object: ObjectRef<T>) -> Option<&mut T> {
        self.replicas.get_mut(object)
    }

    /// Returns whether the client has the object.
    #[must_use]
    pub fn contains<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.replicas.contains(object)
    }

    /// Returns all objects of a class with their references, in no particular order. This includes objects
    /// that were [torn off](crate::ClientObjectInfo::is_torn_off), and objects that the client keeps [out of
    /// sight](crate::ClientObjectInfo::is_out_of_sight). To change some of them,
    /// collect their references and call [`get_mut`](Self::get_mut) for each reference.
    pub fn objects<T: Replicated>(&self) -> impl Iterator<Item = (ObjectRef<T>, &T)> {
        self.replicas.typed::<T>().into_iter().flat_map(|column| {
            let live = column
                .slots
                .iter()
                .zip(column.live.iter())
                .filter_map(|(&slot, live)| Some((self.replicas.reference(slot)?, live)));
            live.chain(column.detached.iter().map(|(&guid, object)| (ObjectRef::new(guid), object)))
        })
    }
}

/// Returns the panic message of `client[object]`.
#[cold]
fn text_of_missing<T: Replicated>(object: ObjectRef<T>) -> String {
    let name = T::LAYOUT.name();
    format!("there is no {name} {object:?} (never received, removed, or of another class)")
}

/// Returns an object, which must exist. To change an object only on this client, use [`Client::get_mut`].
impl<T: Replicated> Index<ObjectRef<T>> for Client {
    type Output = T;

    /// # Panics
    /// Panics if the object does not exist.
    #[track_caller]
    fn index(&self, object: ObjectRef<T>) -> &T {
        match self.get(object) {
            Some(found) => found,
            None => panic!("{}", text_of_missing(object)),
        }
    }
}

/// Returns a mutable reference to an object, to change it only on this client. [`Client::get_mut`] describes
/// how long such an edit lasts. To change the object for all clients, change it on the server.
impl<T: Replicated> IndexMut<ObjectRef<T>> for Client {
    /// # Panics
    /// Panics if the object does not exist.
    #[track_caller]
    fn index_mut(&mut self, object: ObjectRef<T>) -> &mut T {
        match self.get_mut(object) {
            Some(found) => found,
            None => panic!("{}", text_of_missing(object)),
        }
    }
}

/// Resolves references for values that are decoded separately, for example inside other values.
impl Objects for Client {
    fn epoch(&self) -> Epoch {
        self.replicas.resolver().epoch()
    }

    fn contains(&self, guid: Guid) -> bool {
        self.replicas.resolver().contains(guid)
    }
}
