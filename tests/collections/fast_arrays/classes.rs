//! The classes of the random worlds: objects with fast arrays at every place where one is allowed, and items
//! that record their callbacks.
//!
//! *Invariant:* each test runs on its own thread, so each has its own record of callbacks.

use std::cell::RefCell;

use repl::prelude::*;
use repl::{ArrayUpdate, Guid};

/// The items of an array as plain values, with their ids, in the array's order.
pub(crate) type List<F> = Vec<(u32, F)>;

/// A type with a plain form that can be compared after its array no longer exists.
pub(crate) trait Plain {
    type Form: Clone + std::fmt::Debug + PartialEq;

    fn plain(&self) -> Self::Form;

    /// Returns the names of the properties in which two forms differ.
    fn differing(one: &Self::Form, other: &Self::Form) -> Vec<&'static str>;
}

/// Returns the array as a list, without the items that a client added itself.
pub(crate) fn list<T: Plain>(array: &FastArray<T>) -> List<T::Form> {
    let ids = array.ids().iter().filter(|id| !id.is_local());
    ids.map(|id| (id.number(), array.by_id(*id).expect("an item for each id").plain())).collect()
}

/// Sorts the list by id, so that two lists compare as sets.
pub(crate) fn by_id<F>(mut list: List<F>) -> List<F> {
    list.sort_by_key(|(id, _)| *id);
    list
}

/// An item inside an item.
#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
#[replicated(callbacks)]
pub(crate) struct Socket {
    pub(crate) gem: u8,
    pub(crate) tags: FastArray<u8>,
}

/// An item with one property for each kind that has its own rules, including another array of items.
#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
#[replicated(callbacks)]
pub(crate) struct Item {
    pub(crate) kind: u32,
    pub(crate) name: String,
    pub(crate) marks: Vec<u8>,
    pub(crate) target: ObjectRef<Bag>,
    pub(crate) sockets: FastArray<Socket>,
    #[replicated(skip)]
    pub(crate) price: u32,
}

/// A struct that contains an array.
#[derive(Replicated, Clone, Debug, Default)]
#[replicated(all)]
pub(crate) struct Hand {
    pub(crate) cards: FastArray<u32>,
    pub(crate) held: u8,
}

/// An object with arrays at every place where they are allowed.
#[derive(Replicated, Debug, Default)]
#[replicated(all, callbacks)]
pub(crate) struct Bag {
    pub(crate) number: u32,
    #[replicated(notify = on_items)]
    pub(crate) items: FastArray<Item>,
    pub(crate) spare: FastArray<Item>,
    pub(crate) hand: Hand,
    pub(crate) maybe: Option<FastArray<u16>>,
    #[replicated(condition = OwnerOnly)]
    pub(crate) secret: FastArray<u32>,
    pub(crate) numbers: FastArray<u16>,
    pub(crate) rows: Vec<FastArray<u8>>,
    #[replicated(skip)]
    pub(crate) notified: u32,
    /// How many callbacks had been recorded when the notify ran last.
    #[replicated(skip)]
    pub(crate) calls_before_notify: usize,
}

impl Bag {
    fn on_items(&mut self) {
        self.notified += 1;
        self.calls_before_notify = CALLS.with_borrow(Vec::len);
    }
}

impl Callbacks for Bag {
    fn post_net_receive(&mut self) {
        note(Call::End(self.number));
    }
}

/// A socket as plain values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlainSocket {
    pub(crate) gem: u8,
    pub(crate) tags: List<u8>,
}

/// An item as plain values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlainItem {
    pub(crate) kind: u32,
    pub(crate) name: String,
    pub(crate) marks: Vec<u8>,
    pub(crate) target: Option<Guid>,
    pub(crate) sockets: List<PlainSocket>,
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Plain for $type {
            type Form = $type;

            fn plain(&self) -> $type {
                *self
            }

            fn differing(one: &$type, other: &$type) -> Vec<&'static str> {
                if one == other { Vec::new() } else { vec!["0"] }
            }
        }
    )*};
}

numbers!(u8, u16, u32);

impl Plain for Socket {
    type Form = PlainSocket;

    fn plain(&self) -> PlainSocket {
        PlainSocket { gem: self.gem, tags: list(&self.tags) }
    }

    fn differing(one: &PlainSocket, other: &PlainSocket) -> Vec<&'static str> {
        let differ = [("gem", one.gem != other.gem), ("tags", one.tags != other.tags)];
        differ.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }
}

impl Plain for Item {
    type Form = PlainItem;

    fn plain(&self) -> PlainItem {
        let Self { kind, name, marks, target, sockets, .. } = self;
        PlainItem {
            kind: *kind,
            name: name.clone(),
            marks: marks.clone(),
            target: target.guid(),
            sockets: list(sockets),
        }
    }

    fn differing(one: &PlainItem, other: &PlainItem) -> Vec<&'static str> {
        let differ = [
            ("kind", one.kind != other.kind),
            ("name", one.name != other.name),
            ("marks", one.marks != other.marks),
            ("target", one.target != other.target),
            ("sockets", one.sockets != other.sockets),
        ];
        differ.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }
}

/// The state of an array when a callback ran.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View<F> {
    pub(crate) items: List<F>,
    pub(crate) indices: Vec<usize>,
    pub(crate) old_len: usize,
    pub(crate) final_len: usize,
}

/// One callback of an array or of one of its items.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step<F> {
    Remove(F),
    Removes(View<F>),
    Add(F),
    Adds(View<F>),
    Change(F, Vec<&'static str>),
    Changes(View<F>),
    Receive(View<F>),
}

/// A callback that ran on a client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Call {
    Item(Step<PlainItem>),
    Socket(Step<PlainSocket>),
    /// All callbacks of the arrays of the object with this number have run.
    End(u32),
}

thread_local! {
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
}

fn note(call: Call) {
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

/// Returns the callbacks since the last call of this function.
pub(crate) fn calls() -> Vec<Call> {
    CALLS.take()
}

fn view<T: Plain>(update: &ArrayUpdate<'_, T>) -> View<T::Form> {
    let ids = (0..update.len()).map(|at| update.id(at).expect("an id for each item").number());
    View {
        items: ids.zip(update.iter().map(T::plain)).collect(),
        indices: update.indices().to_vec(),
        old_len: update.old_len(),
        final_len: update.final_len(),
    }
}

macro_rules! tell {
    ($item:ident) => {
        impl ItemCallbacks for $item {
            fn pre_replicated_remove(&mut self) {
                note(Call::$item(Step::Remove(self.plain())));
            }
            fn post_replicated_add(&mut self) {
                note(Call::$item(Step::Add(self.plain())));
            }
            fn post_replicated_change(&mut self, changed: &ChangedProperties<'_>) {
                note(Call::$item(Step::Change(self.plain(), changed.iter().collect())));
            }
            fn pre_replicated_removes(update: &mut ArrayUpdate<'_, Self>) {
                note(Call::$item(Step::Removes(view(update))));
            }
            fn post_replicated_adds(update: &mut ArrayUpdate<'_, Self>) {
                note(Call::$item(Step::Adds(view(update))));
            }
            fn post_replicated_changes(update: &mut ArrayUpdate<'_, Self>) {
                note(Call::$item(Step::Changes(view(update))));
            }
            fn post_replicated_receive(update: &mut ArrayUpdate<'_, Self>) {
                note(Call::$item(Step::Receive(view(update))));
            }
        }
    };
}

tell!(Item);
tell!(Socket);
