//! The array by ids and what comes with it: guards, iterators, and how to use them between a server and its clients.
//!
//! [`FastArray`] itself says what marks an item, what ids are for, and what is assigned over what. Its sister whose order clients keep is
//! [`OrderedFastArray`](crate::OrderedFastArray), with iterators of its own in [`ordered`](crate::ordered).
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
//!     gem: Gem,             // an item can be a field of another as it is
//!     runes: FastArray<u8>, // and hold arrays
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
//!         // Looked up when this is compiled:
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
//! A client may push an item before the server has heard of it. It gets a [local](crate::ItemId::is_local) id, and nothing that arrives touches
//! it. When the server adds its own item for the same thing, both stand in the array, for nothing tells that they are one: the game knows
//! by a number of its own, and takes out the predicted one in the field's notify, which runs after the items have come.
//!
//! ```
//! use repl::prelude::*;
//! # use std::time::Duration;
//!
//! #[derive(FastArrayItem, Clone, Default, Debug, PartialEq)]
//! struct Arrow {
//!     target: u16,
//!     shot: u32, // counted by the one who shoots, and told to the server with the order to shoot
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
//! # let (mut server, mut client) = (Server::new(ServerConfig::default()), Client::new(ClientConfig::default(), 1));
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
//! // The client does not wait.
//! let predicted = client.get_mut(archer).unwrap().arrows.push(Arrow { target: 7, shot: 1 });
//! assert!(predicted.is_local());
//!
//! // The server has heard of it, and decides otherwise.
//! server[archer].arrows.push(Arrow { target: 8, shot: 1 });
//! # carry(&mut server, &mut client);
//! let arrows = &client.get(archer).unwrap().arrows;
//! assert!(!arrows.contains_id(predicted));
//! assert_eq!(arrows.last(), Some(&Arrow { target: 8, shot: 1 }));
//! # assert_eq!(arrows.len(), 2);
//! ```
//!
//! A prediction that is never confirmed stays until the client takes it out: by [`remove_by_id`](FastArray::remove_by_id), for [`push`](FastArray::push)
//! gave its id, or by `retain_mut` as above.

pub use repl_fastarray::{FastArray, ItemMut, IterMut};
