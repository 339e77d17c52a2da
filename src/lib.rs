//! Property replication for games and simulations: a server changes structs, and each client receives exactly
//! what it may see.
//!
//! ```
//! use std::time::Duration;
//! use repl::prelude::*;
//!
//! #[derive(Replicated, Default)]
//! struct Player {
//!     #[replicated]
//!     health: u16,
//!     cooldown: f32, // no attribute: never leaves the server
//! }
//!
//! let mut server = Server::new(ServerConfig::default());
//! let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
//! client.register::<Player>();
//! let player = server.spawn(Player { health: 100, cooldown: 0.5 });
//! let connection = server.connect(Duration::ZERO);
//! for now in (0..4).map(|tick| Duration::from_millis(16 * tick)) {
//!     server[player].health -= 1;
//!     client.tick(now);
//!     while let Some(packet) = client.poll_transmit() { server.receive(connection, now, packet); }
//!     server.tick(now);
//!     while let Some(packet) = server.poll_transmit(connection) { client.receive(now, packet).unwrap(); }
//! }
//! assert_eq!(client.get(player).map(|player| player.health), Some(96));
//! ```
//!
//! The library follows the rules of Unreal Engine: layouts with handles, lifetime conditions, notifies with
//! the old value, comparison with a shadow (a copy of the values that were compared last), and one list of
//! changes for all connections. The links may lose, repeat and reorder packets.
//!
//! # From nothing to a replicated struct
//!
//! **Annotate.** [`derive(Replicated)`](derive@Replicated) makes a struct an object. The page of this derive
//! lists the attributes. Fields with `#[replicated]` are replicated; the other fields are never sent. These
//! types can be fields:
//!
//! - numbers, `NonZero`, `bool`, `char`, `String`, `Box<str>`, `Arc<str>`, `Duration` and the addresses of
//!   `std::net`,
//! - arrays, `Vec`, `Option` and tuples, and structs and enums that derive `Replicated`,
//! - `Box` and `VecDeque`, which are always sent whole,
//! - maps and sets of the standard library, [`ReplicatedMap`], [`FastArray`] and [`OrderedFastArray`],
//! - [`ObjectRef`], a reference to another object, and [`AssetRef`], a reference to an asset, for example a
//!   mesh, that both sides know by a path.
//!
//! [`derive(FastArrayItem)`](derive@FastArrayItem) makes a struct an item of fast arrays.
//! [`derive(NetSerialize)`](derive@NetSerialize) makes your own struct or enum a value that is always sent
//! whole. You can also implement [`NetSerialize`] by hand.
//!
//! ```
//! use repl::prelude::*;
//!
//! #[derive(NetSerialize, Clone, Default, Debug, PartialEq)]
//! enum Stance {
//!     #[default]
//!     Standing,
//!     Riding { mount: ObjectRef<Player>, seat: u8 },
//! }
//!
//! #[derive(Replicated, Default)]
//! struct Player {
//!     #[replicated(notify = on_health)]
//!     health: u16,
//!     #[replicated(condition = OwnerOnly)]
//!     ammo: u16,
//!     #[replicated(condition = InitialOnly, max_len = 24)]
//!     name: String,
//!     #[replicated(quantize(step = 0.01, range = -4096.0..=4096.0))]
//!     position: [f32; 3],
//!     #[replicated]
//!     stance: Stance,
//! }
//!
//! impl Player {
//!     fn on_health(&mut self, old: &u16) {
//!         // Called on clients (and on a host that asks), when the value differs from the old one.
//!     }
//! }
//!
//! // A table for reviews: handle, path, type, width and condition of each replicated property.
//! let table = Player::LAYOUT.to_string();
//! assert!(table.contains("position[2]  f32 -4096..=4096 by 0.01"));
//! ```
//!
//! **Review what is sent.** Keep that table together with the code as a snapshot of
//! [`insta`](https://insta.rs):
//!
//! ```no_run
//! # use repl::prelude::*;
//! # #[derive(Replicated, Default)]
//! # struct Player {
//! #     #[replicated]
//! #     health: u16,
//! # }
//! #[test]
//! fn the_layout_of_a_player_is_the_reviewed_one() {
//!     insta::assert_snapshot!(Player::LAYOUT);
//! }
//! ```
//!
//! If a field, a type, a width or a condition changes, the test fails and shows the line that differs. Below
//! the table of the class are the tables of the `NetSerialize` types of its fields, each type once. `cargo
//! insta review` accepts or rejects the change; commit the accepted table together with the change. Builds
//! from before and after such a change refuse each other in the handshake. The format `{:#}` adds to each row
//! the offset and the size in memory, and prints the ranges of memory that are each compared as one block.
//! Offsets depend on compiler and target, so compare them only for types that are `repr(C)`. The example
//! `layouts` has both forms, and a hand-written serialiser that uses the traits of `bitstream_io`.
//!
//! **Serve.** A [`Server`] owns the objects. [`spawn`](Server::spawn) adds an object and returns an
//! [`ObjectRef`], by which you read and change it. `server[player].health -= 10` also marks the object as
//! written to, so that the next [`tick`](Server::tick) compares it.
//! [`server.edit(player).health(90)`](Server::edit) does the same with a setter, which also marks the field
//! if the field has the attribute `push`. [`get_pair_mut`](Server::get_pair_mut) borrows two objects at the
//! same time. The server must know all classes before the first client connects: call
//! [`register`](Server::register) for each class that has not been spawned before this. With [`Register`],
//! one function registers everything for both sides.
//!
//! Settings of one object, one connection or one class are methods of a handle:
//! [`server.object(player)`](Server::object), [`server.connection(id)`](Server::connection) and
//! [`server.class::<Player>()`](Server::class). [`object_info`](Server::object_info) and
//! [`connection_info`](Server::connection_info) return the current settings.
//!
//! **Say who sees what.** At first every client sees every object. [`set_area`](ClassHandle::set_area) sets
//! the distance up to which the objects of a class are seen. The field with their position has
//! `#[replicated(location)]`. A client then sees the objects near its
//! [viewpoints](ConnectionHandle::set_viewpoints).
//! [`set_relevancy`](ObjectHandle::set_relevancy) puts an object into a group, attaches it to another object,
//! or shows it only to its [owner](ObjectHandle::set_owner). [`set_visible`](ObjectHandle::set_visible) hides
//! an object from one client.
//!
//! **Share a level.** Objects that both sides have loaded, such as the doors of a level, have paths.
//! [`Statics::spawn`] spawns an object of the server with a path, and [`ClientStatics::place`] adds an object
//! of a client with a path. When the object of the server arrives, the client's object under the same path
//! receives its values, and keeps its own values in the fields that are not replicated:
//!
//! ```
//! use repl::Placed;
//! use repl::prelude::*;
//!
//! #[derive(Replicated, Default, Debug, PartialEq)]
//! struct Door {
//!     #[replicated]
//!     open: bool,
//!     mesh: u32, // each side has its own
//! }
//!
//! let mut server = Server::new(ServerConfig::default());
//! let door = server.statics().spawn("level1/door_7", Door { open: true, mesh: 0 });
//! assert_eq!(server.find_static("level1/door_7"), Some(door));
//!
//! let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
//! let placed = client.statics().place("level1/door_7", Door { open: false, mesh: 3 });
//! assert_eq!(placed, Placed::Waiting); // `UpdateKind::Bound` comes with the object of the server
//! ```
//!
//! **Say what is sent first.** [`set_update_rate`](ClassHandle::set_update_rate) limits how often the objects
//! of a class are compared and sent. [`set_budget`](ConnectionHandle::set_budget) limits the bytes for a
//! client. If not everything fits into the budget, the objects with the greatest product of
//! [priority](ClassHandle::set_priority) and waiting time are sent first, so that no object waits for ever.
//! [`why_not_sent_to`](ObjectInfo::why_not_sent_to) returns the reason why an object is not sent:
//!
//! ```
//! use repl::NotSent;
//! use repl::prelude::*;
//! use std::time::Duration;
//!
//! #[derive(Replicated, Default)]
//! struct Creature {
//!     #[replicated]
//!     health: u16,
//! }
//!
//! let mut server = Server::new(ServerConfig::default());
//! server.register::<Creature>().class::<Creature>().set_update_rate(UpdateRate::per_second(10.0));
//! let (wolf, boss) = (server.spawn(Creature::default()), server.spawn(Creature::default()));
//! server.object(boss).set_priority(Some(4.0));
//! server.object(wolf).set_dormancy(Dormancy::All); // it sleeps while nothing changes, and clients know it
//!
//! let player = server.connect(Duration::ZERO);
//! server.connection(player).set_budget(100_000); // bytes in a second
//! server.tick(Duration::from_millis(16));
//! assert_eq!(server.object_info(wolf).why_not_sent_to(player), Some(NotSent::NotConnected));
//! ```
//!
//! **Serve from an ECS.** The objects of a class may also be in a store of your own, which may move its rows.
//! Register the class of these objects with [`register_external`](Server::register_external). The server then
//! stores only its comparison copies of them. Before each tick, pass each object that changed to
//! [`compare`](External::compare). The server sends the same packets as for objects that it owns;
//! [`External`] lists the exceptions. On a client, [`copy_to`](Update::copy_to) copies the received
//! properties to a component. An entity with several components is an object without fields (the root), and
//! the components are subobjects of it. [`place`](External::place) sets the position of the root. The example
//! `external` shows all of this.
//!
//! ```
//! use repl::prelude::*;
//! use std::time::Duration;
//!
//! #[derive(Replicated, Default)]
//! struct Player {
//!     #[replicated]
//!     health: u16,
//! }
//!
//! let mut server = Server::new(ServerConfig::default());
//! server.register_external::<Player>();
//! // The table of an ECS: each entity has a `Player`, and its reference as another component.
//! let mut rows: Vec<(Player, Option<ObjectRef<Player>>)> = vec![(Player { health: 3 }, None)];
//! for (player, object) in &mut rows {
//!     object.get_or_insert_with(|| server.external().spawn(player));
//! }
//! rows[0].0.health -= 1;
//! let mut players = server.external::<Player>();
//! for (player, object) in &rows { // those that changed
//!     players.compare(object.unwrap(), player).unwrap();
//! }
//! server.tick(Duration::ZERO);
//! ```
//!
//! **Receive.** A [`Client`] learns the same classes by [`register`](Client::register). It stores its copies
//! of the objects under the same references as the server. After the server was restarted, the references of
//! a client differ from the server's and are valid only on this client. References in fields, messages and
//! calls are translated, so send references in no other way.
//!
//! - [`poll_update`](Client::poll_update) returns what happened to objects of all classes, in the order of
//!   the packets: which were spawned, changed, got another owner, or were despawned.
//! - [`poll_event`](Client::poll_event) returns what happened to the connection, for example that it was
//!   lost.
//! - [`receive`](Client::receive) calls notifies and [`Callbacks`] while it applies a packet.
//! - [`is_owner`](ClientObjectInfo::is_owner) and [`role`](ClientObjectInfo::role) return whether this client
//!   owns an object, and who controls it.
//! - [`server_tick`](Client::server_tick) returns the tick of the server that made the newest packet,
//!   [`clock`](Client::clock) estimates which tick to draw, and [`Interpolated`] returns the value to draw.
//! - [`inputs`](Client::inputs) returns the ticks of the server for which the player must set an input now,
//!   and a [`Predicted`] shows the effect of these inputs at once.
//! - [`is_synchronized`](Client::is_synchronized) returns whether everything has arrived that existed when
//!   the client joined.
//!
//! **Play in the process of the server.** [`connect_host`](Server::connect_host) adds a host: a player
//! without packets and without copies of the objects, as on Unreal's listen server.
//! [`server.host()`](Server::host) returns a handle that makes the host's calls, sends its messages, and
//! polls the messages and updates for the host. With [`LocalPlayer`], one function works for a client and for
//! the host. The guide has a table of the differences.
//!
//! **Send messages.** A message is a value that belongs to no object, for example a line of a chat or the
//! input of a player. Both sides register the types of their messages, each with a [`Channel`], before the
//! first connection. [`Client::send`] and [`ConnectionHandle::send`] send a message in the next tick.
//! [`Server::send_to_all`] and [`Server::send_to_group`] send one to many clients. `poll_message` returns the
//! messages that arrived:
//!
//! ```
//! use repl::Channel;
//! use repl::prelude::*;
//!
//! #[derive(NetSerialize, Clone)]
//! struct Chat(String);
//!
//! let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
//! client.register_message::<Chat>(Channel::Ordered);
//! while let Some(Chat(text)) = client.poll_message() {
//!     println!("{text}");
//! }
//!
//! // A table for reviews, as for an object: each field or variant with its type and its width.
//! let table = Chat::WIRE_FORM.to_string();
//! assert!(table.contains("0      String  ≤ 4096 B"));
//! ```
//!
//! **Call.** A remote call is a function of an object that one side calls and the other side runs.
//! [`rpcs`](macro@rpcs) declares the calls of a class. [`register_calls`](Server::register_calls) registers
//! them on both sides, and `call` sends them:
//!
//! ```
//! use repl::prelude::*;
//!
//! #[derive(Replicated, Default)]
//! struct Player {
//!     #[replicated]
//!     ammo: u16,
//! }
//!
//! #[derive(Replicated, Default)]
//! struct Shot {
//!     #[replicated]
//!     direction: u16,
//!     #[replicated]
//!     by: ObjectRef<Player>,
//! }
//!
//! #[rpcs]
//! impl Player {
//!     /// The client that owns the player calls this function. The server runs it if `may_fire` allows it.
//!     #[rpc(server, reliable, validate = may_fire)]
//!     fn fire(call: &mut ServerCall<'_, Self>, direction: u16) {
//!         if call.ammo > 0 { // the player's, and honest clients may not know the newest value
//!             call.ammo -= 1;
//!             let by = call.object();
//!             call.server().spawn(Shot { direction, by });
//!         }
//!     }
//!
//!     fn may_fire(&self, caller: ConnectionId, direction: &u16) -> bool {
//!         *direction < 360 // what no honest client sends: the connection of the caller is closed
//!     }
//!
//!     /// The server calls it, all clients that see the player run it.
//!     #[rpc(multicast, unreliable)]
//!     fn flash(&mut self, brightness: u8) {}
//! }
//!
//! fn pull_trigger(client: &mut Client, me: ObjectRef<Player>) {
//!     if let Err(error) = client.call(me).fire(90) {
//!         println!("cannot fire now: {error}");
//!     }
//! }
//! ```
//!
//! A function that needs more than the server, for example a physics world, ends with `;` and has no body.
//! Its calls wait until [`poll_call`](Server::poll_call) returns them as values of an enum, which is
//! `PlayerCall` in this example.
//!
//! **Carry.** Server and client open no socket and read no clock. Send the packets that
//! [`poll_any_transmit`](Server::poll_any_transmit) and [`Client::poll_transmit`] return over UDP, or over
//! anything else that carries packets of 1,200 bytes (see [`ServerConfig::mtu_bytes`]). Pass the packets that
//! arrive to `receive`. The time is an argument. Over UDP, an [`Endpoint`] knows the clients by their
//! addresses, and with [`Login::Ask`] the server decides whether it accepts a client. For tests, [`sim`] has
//! a seeded network that delays, loses, repeats and reorders packets.
//!
//! # What this crate does not do
//!
//! - Without the feature `quic`, the crate opens no socket, and does not encrypt or authenticate. The
//!   checksum of a packet detects damage, not forgery. It uses threads only with the feature `rayon`.
//! - If the remaining budget of a tick is smaller than a full packet, the server sends a shorter packet. A
//!   tick sends no packet only if its budget is less than 64 bytes, or if an earlier tick has exceeded its
//!   budget by a single large object.
//! - Clients send no state, only calls, inputs and messages. A call has at most 64 KiB. A message has at most
//!   64 KiB too, unless its type allows up to 16 MiB ([`MessageOptions::max_bytes`]).
//! - The crate sends a `Vec` by index, so an insertion in the middle sends all later elements too.
//!   [`FastArray`] sends items by id, [maps and sets](Map) send entries by key. A large map should be a
//!   [`ReplicatedMap`], because the maps of the standard library are compared entry by entry.
//! - If a client has added an item to a [`FastArray`] as a prediction, the crate does not find out which item
//!   of the server confirms it. [`fast_array`] shows the few lines that do this.
//!
//! # The three types to know
//!
//! - [`Server`] owns objects, or borrows them from your own store. In each tick, it compares them with the
//!   values of the last tick, and makes the packets of each connection.
//! - [`Client`] applies packets, acknowledges them, and calls notifies.
//! - [`ObjectRef`] names an object on both sides: `spawn` returns it, and a field of this type refers to
//!   another object.
//!
//! The module [`tools`] has the lower level: it compares, lists and encodes single objects, for your own
//! tools, tests and transports.
//!
//! # Guarantees
//!
//! - **Convergence.** When changes stop and packets get through, each client has all values of the server
//!   that it may see, property by property and after quantisation. This holds for any number and any pattern
//!   of lost packets. Afterwards only keep-alive packets are sent.
//! - **Items keep their identity.** Clients remove exactly the items of a fast array that the server removed.
//!   Callbacks run for items that were added, were changed or are about to be removed, but not if the whole
//!   array is removed: [`ItemCallbacks`] has the details.
//! - **Only values of the server.** Every value that a client shows was the server's value at some tick, and
//!   no property returns to an older value. A reference to an object that the client does not have reads as
//!   null, and becomes valid when the object arrives.
//! - **All or nothing.** A packet is applied completely or not at all. Bytes from a peer never panic. A
//!   length in a packet allocates memory only if the rest of the packet is long enough for that many
//!   elements.
//! - **Conditions apply to every packet.** A packet contains nothing that its client may not see when the
//!   packet is made.
//! - **Same layouts.** No state is sent between two builds if their classes differ on the wire. The error
//!   names the first class that differs.
//! - **Objects may be in your own store.** The server can own objects, or they can be in a store that moves
//!   its rows and [passes them to the server](External). The server sends the same packets in both cases.
//!   [`External`] lists the exceptions.
//! - **Messages and calls arrive exactly once.** Each message of a reliable [`Channel`] and each reliable
//!   call is delivered exactly once while the connection lasts, and in order if the channel is ordered. A
//!   call runs only while its object exists.
//! - **Clients do only what they may.** A call of a client runs only if this client owns the object of the
//!   call at that moment, and only if the validator accepts the call. A client cannot change a property.
//! - **Deterministic.** If a program makes the same calls with the same times and the same received packets,
//!   the library makes the same packets.
//!
//! # Non-guarantees
//!
//! - Properties and objects are independent of each other: under loss a client may see a newer value of one
//!   together with an older value of another. Only a field marked `atomic`, or with a type that derives only
//!   [`NetSerialize`](derive@NetSerialize), never mixes values of two ticks.
//! - Clients never see values between two ticks. Clients may also miss a value that was replaced before it
//!   arrived.
//! - `notify_always` may be called more than once for one value.
//! - A reference may reveal the identity of an object that the client cannot see.
//! - A [`FastArray`] does not keep its order on clients. An [`OrderedFastArray`] does, after everything has
//!   arrived.
//! - When a client may no longer see a property, it keeps the last value that it received. For example, a
//!   former owner keeps the last values of the properties that only the owner may see.
//!
//! # Features
//!
//! - `glam`: the vectors and quaternions of `glam` 0.34 can be fields. The vectors can also be positions.
//! - `glam-0-33`: the same for `glam` 0.33. If both features are on, the two versions have equal wire forms.
//! - `uuid`: `Uuid` can be a field, a key and an item.
//! - `bitflags`: `flags!` makes types that the macro `bitflags!` has defined usable as fields.
//! - `serde`: fast arrays are serialised as sequences of their items, and [`ItemId`]s as numbers.
//! - `quic`: encrypted connections over the internet, in the module `quic`.
//! - `web`: a server with `quic` also accepts players in browsers, over WebTransport. Clients that are
//!   compiled for `wasm32-unknown-unknown` need only `quic`.
//! - `rayon`: [`Server::tick`] compares several classes at the same time, and makes the packets of several
//!   clients at the same time. The packets are the same as without this feature.
//! - `tracing`: logs sessions and mistakes, and with the target `repl::packets` the content of each packet.
//!   There is a span for each tick of a server, and for each packet that a client applies.
//! - `metrics`: each tick of a server counts packets and bytes, and for each class objects and changes. The
//!   guide (`docs/guide`, "Measure and log") lists all names of both features.

#![forbid(unsafe_code)]

pub mod fast_array;
pub mod tools;

/// Your own serialisers read and write with the traits `BitRead` and `BitWrite` of this crate; see the
/// example `layouts`.
pub use repl_core::bitstream_io;
#[cfg(feature = "bitflags")]
pub use repl_core::flags;
pub use repl_core::leaf;
pub use repl_core::{
    AssetRef, BitReader, BitWriter, ByDifference, ByLayout, Callbacks, Condition, Confirmed, Coordinates,
    Delta, Edit, Guid, ItemId, Layout, Located, Map, NetSerialize, NoObjects, ObjectRef, Property,
    PropertyIndex, ReadError, ReferenceMap, Refusal, Replicated, WireForm, WithoutFastArrays, WriteError,
};
/// ```
/// use repl::Interpolate;
///
/// #[derive(Interpolate, Clone, Debug, PartialEq)]
/// struct Place {
///     at: [f32; 2],
///     #[interpolate(step)]
///     floor: u8,
/// }
///
/// let (before, next) = (Place { at: [0.0, 4.0], floor: 1 }, Place { at: [2.0, 4.0], floor: 2 });
/// assert_eq!(before.interpolate(&next, 0.5), Place { at: [1.0, 4.0], floor: 1 });
/// assert_eq!(before.interpolate(&next, 1.0), next);
/// ```
pub use repl_derive::Interpolate;
/// Makes functions of an object remote calls.
///
/// ```
/// use repl::prelude::*;
///
/// #[derive(Replicated, Default)]
/// struct Player {
///     #[replicated]
///     ammo: u16,
///     #[replicated]
///     health: u16,
/// }
///
/// #[rpcs]
/// impl Player {
///     /// Runs on the server when the client that owns the player calls it.
///     #[rpc(server, reliable, validate = may_fire, per_second = 10)]
///     fn fire(call: &mut ServerCall<'_, Self>, target: ObjectRef<Player>, power: u8) {
///         if call.ammo == 0 {
///             return; // the client did not know it yet
///         }
///         call.ammo -= 1;
///         let shooter = call.object();
///         if let Some(player) = call.server().get_mut(target) {
///             player.health = player.health.saturating_sub(power.into());
///         }
///         // A target without an owner has no client to call.
///         call.server().call(target).hit(shooter, power.into()).ok();
///     }
///
///     /// If this returns `false`, the connection of the client is closed. So refuse only what no honest
///     /// client sends.
///     fn may_fire(&self, _caller: ConnectionId, _target: &ObjectRef<Player>, power: &u8) -> bool {
///         *power <= 100
///     }
///
///     /// Runs on the client that owns the player. Waits until that client has the other player too.
///     #[rpc(client, reliable, waits)]
///     fn hit(&mut self, by: ObjectRef<Player>, damage: u16) {
///         println!("{by:?} hit me: {damage}");
///     }
///
///     /// Without a body: the program polls it.
///     #[rpc(multicast, unreliable)]
///     fn wave(kind: u8);
/// }
///
/// # type Reference = ObjectRef<Player>;
/// # fn play(client: &mut Client, player: Reference, target: Reference) -> Result<(), repl::CallError> {
/// // Both sides register the calls before they connect.
/// client.register_calls::<Player>();
///
/// // Later, on the client that owns the player:
/// client.call(player).fire(target, 80)?;
/// while let Some(received) = client.poll_call::<Player>() {
///     if let PlayerCall::Wave { kind } = received.call {
///         println!("{:?} waves {kind}", received.object);
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub use repl_derive::rpcs;
pub use repl_derive::{FastArrayItem, NetSerialize, Replicated, rpc};
/// An item of a fast array. Most items are structs with this derive.
///
/// ```
/// use repl::prelude::*;
///
/// #[derive(FastArrayItem, Clone, Default)]
/// struct Stack {
///     kind: u16,
///     #[replicated(range = 0..=99)]
///     count: u8,
///     #[replicated(skip)]
///     price: u32, // never leaves the server
/// }
///
/// let mut bag = FastArray::from([Stack { kind: 1, count: 2, price: 30 }]);
/// bag[0].count += 1; // only the count is sent
/// assert!(Stack::LAYOUT.to_string().contains("count"));
/// ```
pub use repl_fastarray::FastArrayItem;
pub use repl_fastarray::{
    ArrayUpdate, ChangedProperties, FastArray, ItemCallbacks, ItemMut, OrderedFastArray, ReplicatedMap,
    ValueMut,
};
pub use repl_fastarray::{map, ordered};
pub use repl_net::{
    Address, Angle, ArchetypeId, Area, Audience, Call, CallError, CallKind, CallSide, CallTable, Channel,
    ClassHandle, ClassMemory, Client, ClientAssets, ClientCall, ClientConfig, ClientConnectionInfo,
    ClientEvent, ClientInputs, ClientObjectHandle, ClientObjectInfo, ClientStatics, ClientStats, CloseReason,
    CompareError, CongestionControl, ConnectionHandle, ConnectionId, ConnectionInfo, ConnectionStats,
    DisconnectReason, Dormancy, Endpoint, EndpointConfig, External, Group, History, HostHandle, HostOptions,
    InputCounts, InputError, InputStats, Interpolate, Interpolated, LocalPlayer, Login, MessageOptions,
    MessageProgress, Moving, MulticastCall, NotSent, ObjectHandle, ObjectInfo, Offset, OutOfSight, Placed,
    Position, Predict, Predicted, PredictedSpawns, PredictionEvent, PredictionStats, PredictionStep,
    Progress, RateControl, ReceiveError, ReceivedCall, Register, Relevancy, Rewound, Role, Rotation, Rpcs,
    SendError, Server, ServerAssets, ServerCall, ServerClock, ServerConfig, ServerEvent, ServerMemory,
    Session, ShownTick, Smoothed, SpawnError, SpawnKey, StaticSpawnError, Statics, TickInput, Transmit,
    Update, UpdateKind, UpdateRate, Viewer, Work,
};
/// Encrypted connections over the internet: QUIC, polled from the game's loop. Needs the feature `quic`.
#[cfg(feature = "quic")]
#[doc(inline)]
pub use repl_quic as quic;
/// A simulated network for tests, which delays, loses, repeats, reorders and damages packets by a seed.
#[doc(inline)]
pub use repl_sim as sim;

/// The names that most programs need.
pub mod prelude {
    pub use repl_core::{
        AssetRef, BitReader, BitWriter, Callbacks, Condition, Confirmed, Coordinates, ItemId, Located,
        NetSerialize, ObjectRef, PropertyIndex, ReadError, ReferenceMap, Replicated, WithoutFastArrays,
        WriteError,
    };
    pub use repl_derive::{FastArrayItem, Interpolate, NetSerialize, Replicated, rpc, rpcs};
    pub use repl_fastarray::{
        ArrayUpdate, ChangedProperties, FastArray, FastArrayItem, ItemCallbacks, ItemMut, OrderedFastArray,
        ReplicatedMap, ValueMut,
    };
    pub use repl_net::{
        ArchetypeId, Area, Audience, CallError, Channel, Client, ClientCall, ClientConfig, ClientEvent,
        CloseReason, ConnectionId, ConnectionStats, DisconnectReason, Dormancy, Endpoint, EndpointConfig,
        Group, HostOptions, Interpolate, Interpolated, LocalPlayer, Login, MessageOptions, MulticastCall,
        NotSent, OutOfSight, Predict, Predicted, Register, Relevancy, Role, Rpcs, SendError, Server,
        ServerCall, ServerConfig, ServerEvent, Session, ShownTick, Smoothed, TickInput, Update, UpdateKind,
        UpdateRate,
    };
}

#[doc(hidden)]
pub mod __private {
    pub use repl_core::__private::*;
    pub use repl_fastarray::__private::*;
    pub use repl_net::__private::*;
}

/// An object with fast arrays is compared through `&mut`, because the comparison may assign ids to new items.
///
/// ```
/// # use repl::prelude::*;
/// # #[derive(Replicated, Default)]
/// # struct Bag {
/// #     #[replicated]
/// #     items: Option<FastArray<u8>>,
/// # }
/// # let mut server = Server::new(ServerConfig::default());
/// # let mut bag = Bag::default();
/// # let object = server.external().spawn(&bag);
/// server.external().compare_mut(object, &mut bag).unwrap();
/// ```
///
/// ```compile_fail
/// # use repl::prelude::*;
/// # #[derive(Replicated, Default)]
/// # struct Bag {
/// #     #[replicated]
/// #     items: Option<FastArray<u8>>,
/// # }
/// # let mut server = Server::new(ServerConfig::default());
/// # let mut bag = Bag::default();
/// # let object = server.external().spawn(&bag);
/// server.external().compare(object, &bag).unwrap();
/// ```
#[cfg(doctest)]
struct HandedOver;

/// Tests the code samples in the description of the wire format.
#[cfg(doctest)]
#[doc = include_str!("../docs/wire.md")]
struct Wire;
