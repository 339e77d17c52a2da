//! Property replication for games and simulations: a server changes structs, and every client comes to hold exactly what it may see.
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
//! let (mut server, mut client) = (Server::new(ServerConfig::default()), Client::new(ClientConfig::default(), 1));
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
//! The rules are those that developers know from Unreal Engine: layouts with handles, lifetime conditions, notifies with the old value,
//! comparison with a shadow, one list of changes for all connections. The bits go over links that lose, repeat and reorder packets.
//!
//! # From nothing to a replicated struct
//!
//! **Annotate.** [`derive(Replicated)`](derive@Replicated) makes a struct an object. Fields with `#[replicated]` are replicated, the others stay
//! where they are. Numbers, `NonZero`, `bool`, `char`, `String`, `Box<str>`, `Arc<str>`, `Duration`, the addresses of `std::net`, arrays, `Vec`,
//! `Option`, tuples, `Box` and `VecDeque` (which travel as a unit), maps and sets of the standard library, [`FastArray`] and [`OrderedFastArray`], [`ObjectRef`]
//! and other objects' structs can be fields. [`derive(FastArrayItem)`](derive@FastArrayItem) makes structs items of
//! fast arrays; [`derive(NetSerialize)`](derive@NetSerialize) makes structs and enums of your own into values that travel as a unit, and [`NetSerialize`] can
//! be written by hand. [`derive(Replicated)`](derive@Replicated) lists the attributes.
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
//!         // On clients only, when the value that arrived differs from the one that was there.
//!     }
//! }
//!
//! // What a reviewer reads: handle, path, type, width and condition of everything that travels.
//! let table = Player::LAYOUT.to_string();
//! assert!(table.contains("position[2]  f32 -4096..=4096 by 0.01"));
//! ```
//!
//! **Review what travels.** Keep that table beside the code as a snapshot of [`insta`](https://insta.rs):
//!
//! ```no_run
//! # use repl::prelude::*;
//! # #[derive(Replicated, Default)]
//! # struct Player {
//! #     #[replicated]
//! #     health: u16,
//! # }
//! #[test]
//! fn what_travels_of_a_player_is_as_it_was_reviewed() {
//!     insta::assert_snapshot!(Player::LAYOUT);
//! }
//! ```
//!
//! A change of a field, a type, a width or a condition fails the test and shows the line that differs. `cargo insta review` accepts or
//! rejects it, and the accepted table is committed with the change. Builds on both sides of such a change refuse each other in the handshake.
//! `{:#}` adds to each row its offset and size in memory, and the runs of memory that are compared at once: these depend on compiler and
//! target, so compare them only for types that are `repr(C)`. The example `layouts` has both, and a serialiser of its own on the traits of
//! [`bitstream_io`].
//!
//! **Serve.** A [`Server`] owns the objects. [`spawn`](Server::spawn) adds one and gives an [`ObjectRef`], by which it is read and changed:
//! `server[player].health -= 10` also marks it, so that the next [`tick`](Server::tick) compares it; [`get_pair_mut`](Server::get_pair_mut) lends two at once. [`set_owner`](Server::set_owner) and
//! [`set_visible`](Server::set_visible) decide who sees what. All classes must be known before the first client connects: say
//! [`register`](Server::register) for those of which nothing has been spawned by then.
//!
//! **Receive.** A [`Client`] knows the same classes by [`register`](Client::register) and holds its copies under the same references.
//! [`poll_event`](Client::poll_event) tells what came and went, [`cast`](Client::cast) what class it is of, [`changes`](Client::changes) what arrived since the
//! last look; notifies and [`Callbacks`] are called by [`receive`](Client::receive). [`is_owner`](Client::is_owner) and [`role`](Client::role) say what an
//! object is to this client, [`server_tick`](Client::server_tick) which tick of the server it shows, and
//! [`is_synchronized`](Client::is_synchronized) whether everything has arrived that was there when it joined.
//!
//! **Carry.** Neither opens a socket or reads a clock. What [`poll_any_transmit`](Server::poll_any_transmit) and
//! [`Client::poll_transmit`] return goes out over UDP or anything else that carries packets of 1,200 bytes (see
//! [`ServerConfig::mtu_bytes`]); what comes in goes to `receive`; the time is an argument. For tests
//! [`sim`] has a seeded network that delays, loses, repeats and reorders.
//!
//! # What this crate does not do
//!
//! - It opens no socket and starts no thread, and it neither encrypts nor authenticates: a checksum finds damage, not forgery.
//! - It neither predicts nor interpolates: a client shows what has arrived, and may write over it.
//! - It does not choose by distance or priority what is sent: a connection sees every object but those hidden with
//!   [`set_visible`](Server::set_visible).
//! - It makes no remote calls, and clients send no state.
//! - A `Vec` goes by index: what is inserted in the middle moves all behind it. [`FastArray`] sends items by their identity, [maps and sets](Map)
//!   send entries by their key.
//! - It does not guess which predicted item the server confirms: [`fast_array`] has the few lines that do.
//!
//! # The three types to know
//!
//! - [`Server`] owns objects, compares them once a tick, and makes the packets of each connection.
//! - [`Client`] applies packets, acknowledges them, and calls notifies.
//! - [`ObjectRef`] names an object on both sides: what spawning gives, and what fields hold to refer to others.
//!
//! Below them [`Class`], [`Changelist`], [`BitWriter`] and [`BitReader`] compare, list and encode single objects, for tools and for transports
//! of your own.
//!
//! # Guarantees
//!
//! - **Convergence.** When changes stop and packets get through, each client holds what the server holds and it may see, property by property
//!   after quantisation. No number or pattern of lost packets changes that. Then nothing is sent but signs of life.
//! - **Items keep their identity.** No removed item of a fast array survives on a client and none that is there is removed. Items are told when they
//!   came, change or go, but for those that go with all that holds them: [`ItemCallbacks`] says when.
//! - **Nothing invented, nothing stale.** Every value that a client shows was the server's at some tick, and no property goes back to an
//!   older one. References to objects that are not there read as null, and heal when they come.
//! - **All or nothing.** A packet is applied whole or not at all. Bytes from a peer never panic, and a claimed length takes no memory.
//! - **Conditions hold for bytes.** What a connection may not see when a packet is made is not in it.
//! - **Same layouts.** No state flows between two builds whose classes differ on the wire; the first that differs is named.
//! - **Deterministic.** The same calls with the same times and packets give the same packets.
//!
//! # Non-guarantees
//!
//! - Properties and objects are not tied to each other: under loss a client may see a newer value of one beside an older value of another.
//!   A field marked `atomic`, or of a type that derives only [`NetSerialize`](derive@NetSerialize), is never mixed from two ticks.
//! - Values between two ticks, and values that were overtaken by newer ones before they arrived, are never seen.
//! - `notify_always` may be called more than once for one value.
//! - The identity of an object may be visible in a reference to it where the object itself is not.
//! - The order of a [`FastArray`]'s items on clients is not the server's. That of an [`OrderedFastArray`]'s is, once all has arrived.
//! - What a client may no longer see keeps the values that it saw last, such as properties for the owner at the one who was it.
//!
//! # Features
//!
//! - `glam`: the vectors and quaternions of that crate can be fields.
//! - `indexmap`: the maps and sets of that crate can be fields.
//! - `bitflags`: `flags!` makes fields of types made by that crate's `bitflags!`.
//! - `serde`: fast arrays are written and read as sequences of their items, [`ItemId`]s as their numbers.
//!
//! # What S145, R13 and W4 mean
//!
//! Descriptions and names of tests (`s145_…`, `r13_…`, `w04_…`) carry numbers. `docs/semantics.md` in the repository has a line for each:
//! what it says, where this crate differs on purpose, and the tests.
//!
//! - S1 to S224 are statements about how Unreal's replication behaves: layouts (to S33), conditions (S48), notifies (S57), comparing (S74),
//!   sending (S87), the wire (S105), receiving (S122), dirty marks (S133), fast arrays (S185), objects (S212), calls.
//! - R1 to R26 are the rules of the protocol of this crate.
//! - W1 to W21 are weaknesses of Unreal's replication, and what this crate does instead.
#![forbid(unsafe_code)]

pub mod fast_array;

/// The traits `BitRead` and `BitWrite` of this crate are what serialisers of your own read and write with; see the example `layouts`.
pub use repl_core::bitstream_io;
#[cfg(feature = "bitflags")]
pub use repl_core::flags;
pub use repl_core::{
    BitReader, BitSlice, BitWriter, Callbacks, Changelist, Checked, CheckedMark, CheckedUpdate, Checksum,
    Class, Condition, Counts, DecodeError, Guid, HandleSet, History, ItemId, Keyed, Layout, LayoutOf,
    Lifetime, Map, NetSerialize, NoObjects, Notify, ObjectRef, Objects, Observer, Program, Property,
    PropertyIndex, ReadError, ReferenceMap, Refusal, Replicated, Scratch, ViewFlags, With, WriteError,
};
pub use repl_core::{bits, leaf, limits, wire};
pub use repl_derive::{FastArrayItem, NetSerialize, Replicated};
/// What stands in a fast array: most often a struct with this derive.
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
pub use repl_fastarray::ordered;
pub use repl_fastarray::{
    ArrayUpdate, ChangedProperties, FastArray, ItemCallbacks, ItemMut, OrderedFastArray,
};
pub use repl_net::sim;
pub use repl_net::{
    ArchetypeId, Change, ClassTraffic, Client, ClientConfig, ClientEvent, ClientStats, CloseReason,
    CongestionControl, ConnectionId, ConnectionStats, Difference, DisconnectReason, LayoutMismatch, Limit,
    LimitMismatch, PropertyTraffic, ReceiveError, Role, Server, ServerConfig, ServerEvent, Side, SpawnError,
    Transmit,
};

/// What most programs need: the derives with their traits, server and client with what they are told and tell, references, conditions and fast
/// arrays with what their callbacks see.
pub mod prelude {
    pub use repl_core::{Callbacks, Condition, ItemId, NetSerialize, ObjectRef, Replicated};
    pub use repl_derive::{FastArrayItem, NetSerialize, Replicated};
    pub use repl_fastarray::{
        ArrayUpdate, ChangedProperties, FastArray, FastArrayItem, ItemCallbacks, ItemMut, OrderedFastArray,
    };
    pub use repl_net::{
        Client, ClientConfig, ClientEvent, ConnectionId, Role, Server, ServerConfig, ServerEvent,
    };
}

#[doc(hidden)]
pub mod __private {
    pub use repl_core::__private::*;
    pub use repl_fastarray::__private::*;
}

/// Runs the code in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the code in the description of the wire.
#[cfg(doctest)]
#[doc = include_str!("../docs/wire.md")]
struct Wire;
