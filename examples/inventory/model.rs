//! The replicated objects: the bag of an adventurer, both in a fast array and in a plain `Vec`.
//!
//! *Invariant:* both bags have the same fields with the same attributes, so a difference in bytes comes from
//! the containers.

use repl::prelude::*;

use crate::journal::{self, Entry};

/// The bag with fast arrays, which give each item an id.
#[derive(Replicated, Default)]
pub(crate) struct Bag {
    #[replicated(notify = on_stacks)]
    pub(crate) stacks: FastArray<Stack>,
}

impl Bag {
    /// This notify is called last in each update, after all callbacks of the items.
    fn on_stacks(&mut self) {
        journal::write(Entry::Notified { stacks: self.stacks.len() });
    }
}

/// A stack of things of one kind. Only the properties that changed are sent.
#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
#[replicated(callbacks)]
pub(crate) struct Stack {
    pub(crate) kind: Kind,
    #[replicated(range = 0..=99)]
    pub(crate) count: u8,
    /// In percent.
    #[replicated(range = 0..=100)]
    pub(crate) wear: u8,
    /// A fast array in an item of another fast array: if a gem loses charge, only its charge is sent.
    pub(crate) sockets: FastArray<Gem>,
    /// The price that a trader would pay. The price never leaves the server.
    #[replicated(skip)]
    pub(crate) price: u32,
    /// On a client: the properties that changed in the update that is being received.
    #[replicated(skip)]
    pub(crate) news: Vec<&'static str>,
}

/// The callbacks of stacks. A callback of a single item knows which of its properties changed. A callback of
/// the array knows the position and id of each item.
impl ItemCallbacks for Stack {
    fn pre_replicated_remove(&mut self) {
        journal::count();
    }

    fn post_replicated_add(&mut self) {
        journal::count();
    }

    fn post_replicated_change(&mut self, changed: &ChangedProperties<'_>) {
        journal::count();
        self.news = changed.iter().collect();
    }

    fn pre_replicated_removes(update: &mut ArrayUpdate<'_, Self>) {
        each(update, |id, stack| Entry::Gone(id, stack.into()));
    }

    fn post_replicated_adds(update: &mut ArrayUpdate<'_, Self>) {
        each(update, |id, stack| Entry::Came(id, stack.into()));
    }

    fn post_replicated_changes(update: &mut ArrayUpdate<'_, Self>) {
        each(update, |id, stack| Entry::Changed(id, stack.into(), std::mem::take(&mut stack.news)));
    }
}

/// A gem in a socket.
#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
#[replicated(callbacks)]
pub(crate) struct Gem {
    pub(crate) colour: Colour,
    /// The number that was engraved when the gem was cut. No other gem has it.
    pub(crate) serial: u16,
    /// In percent.
    #[replicated(range = 0..=100)]
    pub(crate) charge: u8,
}

impl ItemCallbacks for Gem {
    fn pre_replicated_remove(&mut self) {
        journal::count();
    }

    fn post_replicated_add(&mut self) {
        journal::count();
    }

    fn post_replicated_change(&mut self, _: &ChangedProperties<'_>) {
        journal::count();
    }

    fn pre_replicated_removes(update: &mut ArrayUpdate<'_, Self>) {
        each(update, |_, gem| Entry::GemGone(gem.clone()));
    }

    fn post_replicated_adds(update: &mut ArrayUpdate<'_, Self>) {
        each(update, |_, gem| Entry::GemCame(gem.clone()));
    }

    fn post_replicated_changes(update: &mut ArrayUpdate<'_, Self>) {
        each(update, |_, gem| Entry::GemChanged(gem.clone()));
    }
}

/// Writes an entry for each item of a callback.
fn each<T>(update: &mut ArrayUpdate<'_, T>, mut entry: impl FnMut(ItemId, &mut T) -> Entry) {
    for &at in update.indices() {
        if let Some(id) = update.id(at)
            && let Some(item) = update.get_mut(at)
        {
            journal::write(entry(id, item));
        }
    }
}

/// The bag with plain `Vec`s instead of fast arrays.
#[derive(Replicated, Default)]
pub(crate) struct PlainBag {
    #[replicated]
    pub(crate) stacks: Vec<PlainStack>,
}

/// The same fields as [`Stack`].
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
pub(crate) struct PlainStack {
    #[replicated]
    pub(crate) kind: Kind,
    #[replicated(range = 0..=99)]
    pub(crate) count: u8,
    #[replicated(range = 0..=100)]
    pub(crate) wear: u8,
    #[replicated]
    pub(crate) sockets: Vec<PlainGem>,
}

/// The same fields as [`Gem`].
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
pub(crate) struct PlainGem {
    colour: Colour,
    serial: u16,
    #[replicated(range = 0..=100)]
    charge: u8,
}

impl From<&Bag> for PlainBag {
    fn from(bag: &Bag) -> Self {
        Self { stacks: bag.stacks.iter().map(PlainStack::from).collect() }
    }
}

impl From<&Stack> for PlainStack {
    fn from(stack: &Stack) -> Self {
        let gem = |gem: &Gem| PlainGem { colour: gem.colour, serial: gem.serial, charge: gem.charge };
        let Stack { kind, count, wear, sockets, .. } = stack;
        Self { kind: *kind, count: *count, wear: *wear, sockets: sockets.iter().map(gem).collect() }
    }
}

#[derive(NetSerialize, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    #[default]
    Arrow,
    Bread,
    Cloak,
    Hammer,
    Lantern,
    Potion,
    Rope,
    Sword,
}

impl Kind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Arrow,
        Self::Bread,
        Self::Cloak,
        Self::Hammer,
        Self::Lantern,
        Self::Potion,
        Self::Rope,
        Self::Sword,
    ];
}

#[derive(NetSerialize, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Colour {
    #[default]
    Amber,
    Jade,
    Ruby,
}

impl Colour {
    pub(crate) const ALL: [Self; 3] = [Self::Amber, Self::Jade, Self::Ruby];
}
