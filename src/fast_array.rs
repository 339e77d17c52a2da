//! Fast arrays: their iterators and guards, and how a server and its clients use them.
//!
//! The documentation of [`FastArray`] describes which writes mark an item as changed, how ids are used, and
//! what an assignment does. An [`OrderedFastArray`](crate::OrderedFastArray) has the same order on clients as
//! on the server; its own iterators are in [`ordered`](crate::ordered).
//!
//! # Items
//!
//! ```
//! use repl::prelude::*;
//!
//! #[derive(FastArrayItem, Clone, Default, Debug, PartialEq)]
//! #[replicated(callbacks)]
//! struct Stack {
//!     kind: u16,
//!     #[replicated(range = 0..=99)]
//!     count: u8,
//!     gem: Gem,             // an item can be a field of another item
//!     runes: FastArray<u8>, // an item can hold arrays
//!     #[replicated(skip)]
//!     price: u32,
//! }
//!
//! #[derive(FastArrayItem, Clone, Default, Debug, PartialEq)]
//! struct Gem {
//!     colour: u8,
//!     charge: u8,
//! }
//!
//! impl ItemCallbacks for Stack {
//!     fn post_replicated_change(&mut self, changed: &ChangedProperties<'_>) {
//!         if changed.contains("gem.charge") {
//!             println!("{self:?} glows");
//!         }
//!         // The compiler looks this one up:
//!         if changed.contains_property(const { Stack::LAYOUT.property("count") }) {
//!             println!("there are {} now", self.count);
//!         }
//!     }
//!
//!     fn post_replicated_adds(bag: &mut ArrayUpdate<'_, Self>) {
//!         for (id, stack) in bag.ids().zip(bag.items()) {
//!             println!("{id}: {stack:?}");
//!         }
//!     }
//! }
//!
//! #[derive(Replicated, Default)]
//! struct Player {
//!     #[replicated]
//!     bag: FastArray<Stack>,
//! }
//!
//! println!("{}", Stack::LAYOUT); // the paths that `contains` takes
//! ```
//!
//! # Items that a client adds by itself
//!
//! A client may add an item before the server does. The item has a [local](crate::ItemId::is_local) id, and
//! no update changes it. When the server later adds its own item for the same thing, the client's array
//! contains both items, because the library cannot know that they belong together. To recognise them, the
//! game puts an equal number into both items. The client removes its own item in the notify of the field,
//! which runs after the items of the server were added.
//!
//! ```
//! use repl::prelude::*;
//! # use std::time::Duration;
//!
//! #[derive(FastArrayItem, Clone, Default, Debug, PartialEq)]
//! struct Arrow {
//!     target: u16,
//!     shot: u32, // the shooter counts, and sends the number to the server with its command
//! }
//!
//! #[derive(Replicated, Default)]
//! struct Archer {
//!     #[replicated(notify = on_arrows)]
//!     arrows: FastArray<Arrow>,
//! }
//!
//! impl Archer {
//!     fn on_arrows(&mut self) {
//!         let arrows = self.arrows.ids().iter().zip(&self.arrows);
//!         let confirmed: Vec<u32> =
//!             arrows.filter(|(id, _)| !id.is_local()).map(|(_, arrow)| arrow.shot).collect();
//!         self.arrows.retain_mut(|arrow| !(ItemMut::id(arrow).is_local() && confirmed.contains(&arrow.shot)));
//!     }
//! }
//!
//! # let mut server = Server::new(ServerConfig::default());
//! # let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
//! # server.register::<Archer>();
//! # client.register::<Archer>();
//! # let connection = server.connect(Duration::ZERO);
//! # let mut now = Duration::ZERO;
//! # let mut carry = |server: &mut Server, client: &mut Client| for _ in 0..4 {
//! #     now += Duration::from_millis(16);
//! #     client.tick(now);
//! #     while let Some(packet) = client.poll_transmit() { server.receive(connection, now, packet); }
//! #     server.tick(now);
//! #     while let Some(packet) = server.poll_transmit(connection) { client.receive(now, packet).unwrap(); }
//! # };
//! let archer = server.spawn(Archer::default());
//! # server[archer].arrows.push(Arrow::default());
//! # carry(&mut server, &mut client);
//! // The client adds its arrow immediately.
//! let predicted = client.get_mut(archer).unwrap().arrows.push(Arrow { target: 7, shot: 1 });
//! assert!(predicted.is_local());
//!
//! // The server receives the command, and chooses another target.
//! server[archer].arrows.push(Arrow { target: 8, shot: 1 });
//! # carry(&mut server, &mut client);
//! let arrows = &client.get(archer).unwrap().arrows;
//! assert!(!arrows.contains_id(predicted));
//! assert_eq!(arrows.last(), Some(&Arrow { target: 8, shot: 1 }));
//! # assert_eq!(arrows.len(), 2);
//! ```
//!
//! If the server never adds its own item, the client's item remains until the client removes it. It can do
//! this with [`remove_by_id`](FastArray::remove_by_id), with the id that [`push`](FastArray::push) returned,
//! or with `retain_mut` as above.

pub use repl_fastarray::{FastArray, ItemMut, IterMut};
