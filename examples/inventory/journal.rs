//! The journal: all calls of callbacks, in order, and a model that is built only from them.
//!
//! A callback receives only the item or the array, so it needs a place outside to write to. In a game this
//! could be a queue of events. In this example it is the journal, one for each thread.
//!
//! *Invariant:* only entries change the model. The client's bag is only compared with it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;

use repl::prelude::*;

use crate::model::{Gem, Kind, Stack};

/// One call of a callback.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    Came(ItemId, Seen),
    /// Contains the names of the properties whose values differ.
    Changed(ItemId, Seen, Vec<&'static str>),
    Gone(ItemId, Seen),
    GemCame(Gem),
    GemChanged(Gem),
    GemGone(Gem),
    /// The notify of the field, which is called last in an update.
    Notified {
        stacks: usize,
    },
}

/// A stack as clients know it. The gems of a stack are a set, because their order is not guaranteed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) kind: Kind,
    pub(crate) count: u8,
    pub(crate) wear: u8,
    pub(crate) sockets: BTreeMap<ItemId, Gem>,
}

impl From<&mut Stack> for Seen {
    fn from(stack: &mut Stack) -> Self {
        Self::from(&*stack)
    }
}

impl From<&Stack> for Seen {
    fn from(stack: &Stack) -> Self {
        let Stack { kind, count, wear, sockets, .. } = stack;
        let sockets = sockets.ids().iter().copied().zip(sockets.iter().cloned()).collect();
        Self { kind: *kind, count: *count, wear: *wear, sockets }
    }
}

thread_local! {
    static ENTRIES: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
    static CALLS_ON_ITEMS: Cell<usize> = const { Cell::new(0) };
}

/// Adds an entry to the journal of this thread.
pub(crate) fn write(entry: Entry) {
    ENTRIES.with_borrow_mut(|entries| entries.push(entry));
}

/// Counts a callback of one item. The array's callback for the same items writes the entries.
pub(crate) fn count() {
    CALLS_ON_ITEMS.set(CALLS_ON_ITEMS.get() + 1);
}

/// Returns all entries and the number of callbacks of single items, and removes them from the journal.
pub(crate) fn take() -> (Vec<Entry>, usize) {
    (ENTRIES.take(), CALLS_ON_ITEMS.take())
}

/// Returns all stacks of a bag by their ids.
pub(crate) fn seen(stacks: &FastArray<Stack>) -> BTreeMap<ItemId, Seen> {
    stacks.ids().iter().copied().zip(stacks.iter().map(Seen::from)).collect()
}

/// The inventory that follows from the entries.
#[derive(Default)]
pub(crate) struct Model {
    stacks: BTreeMap<ItemId, Seen>,
    /// The gems of all stacks, by serial number.
    gems: BTreeMap<u16, Gem>,
    pub(crate) entries: usize,
    /// The first mistake that the replay found, if there is one.
    pub(crate) mistake: Option<String>,
}

impl Model {
    /// Replays the entries written since the last call.
    pub(crate) fn read(&mut self, entries: &[Entry], calls_on_items: usize) {
        self.entries += entries.len();
        let on_items = entries.iter().filter(|entry| !matches!(entry, Entry::Notified { .. })).count();
        if on_items != calls_on_items {
            self.complain(format!(
                "{calls_on_items} callbacks of items, but callbacks of arrays name {on_items}"
            ));
        }
        for entry in entries {
            if let Err(mistake) = self.believe(entry) {
                self.complain(format!("{entry:?}: {mistake}"));
            }
        }
        if !entries.is_empty() && !matches!(entries.last(), Some(Entry::Notified { .. })) {
            self.complain("callbacks without the notify that closes an update".to_owned());
        }
    }

    fn believe(&mut self, entry: &Entry) -> Result<(), &'static str> {
        match entry {
            Entry::Came(id, seen) => self.come(*id, seen),
            Entry::Changed(id, seen, news) => self.change(*id, seen, news),
            Entry::Gone(id, seen) => {
                for gem in seen.sockets.values() {
                    self.gems.remove(&gem.serial).ok_or("went with a gem that had not come")?;
                }
                let known = self.stacks.remove(id).ok_or("went but had not come")?;
                if known == *seen { Ok(()) } else { Err("went as another than it was") }
            }
            Entry::GemCame(gem) => match self.gems.insert(gem.serial, gem.clone()) {
                None => Ok(()),
                Some(_) => Err("came twice"),
            },
            Entry::GemChanged(gem) => match self.gems.insert(gem.serial, gem.clone()) {
                Some(known) if known != *gem => Ok(()),
                Some(_) => Err("did not change"),
                None => Err("changed but had not come"),
            },
            Entry::GemGone(gem) => self.gems.remove(&gem.serial).map(drop).ok_or("went but had not come"),
            Entry::Notified { stacks } if *stacks == self.stacks.len() => Ok(()),
            Entry::Notified { .. } => Err("is another number of stacks than were told of"),
        }
    }

    fn come(&mut self, id: ItemId, seen: &Seen) -> Result<(), &'static str> {
        match self.stacks.insert(id, seen.clone()) {
            None => Ok(()),
            Some(_) => Err("came twice"),
        }
    }

    /// Copies the properties with these names, and no others.
    fn change(&mut self, id: ItemId, seen: &Seen, news: &[&str]) -> Result<(), &'static str> {
        let known = self.stacks.get_mut(&id).ok_or("changed but had not come")?;
        if news.is_empty() {
            return Err("changed nothing");
        }
        for &name in news {
            let differs = match name {
                "kind" => std::mem::replace(&mut known.kind, seen.kind) != seen.kind,
                "count" => std::mem::replace(&mut known.count, seen.count) != seen.count,
                "wear" => std::mem::replace(&mut known.wear, seen.wear) != seen.wear,
                "sockets" => std::mem::replace(&mut known.sockets, seen.sockets.clone()) != seen.sockets,
                _ => return Err("changed a property that it does not have"),
            };
            if !differs {
                return Err("names a property that did not change");
            }
        }
        if known == seen { Ok(()) } else { Err("changed more than is named") }
    }

    /// Records a mistake if the model differs from the client's bag.
    pub(crate) fn compare(&mut self, stacks: &FastArray<Stack>) {
        let held = seen(stacks);
        let mut gems: BTreeMap<u16, Gem> = BTreeMap::new();
        for gem in stacks.iter().flat_map(|stack| &stack.sockets) {
            gems.insert(gem.serial, gem.clone());
        }
        if self.stacks != held || self.gems != gems {
            self.complain("the callbacks make another inventory than the client holds".to_owned());
        }
    }

    /// Records a mistake. Only the first mistake counts; the others follow from it.
    fn complain(&mut self, mistake: String) {
        self.mistake.get_or_insert(mistake);
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Came(id, seen) => write!(f, "+ #{id} {seen}"),
            Self::Changed(id, seen, news) => write!(f, "~ #{id} {seen}: {}", news.join(", ")),
            Self::Gone(id, seen) => write!(f, "- #{id} {seen}"),
            Self::GemCame(gem) => write!(f, "  + {gem}"),
            Self::GemChanged(gem) => write!(f, "  ~ {gem}"),
            Self::GemGone(gem) => write!(f, "  - {gem}"),
            Self::Notified { stacks } => write!(f, "= {stacks} stacks"),
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} x{}", self.kind, self.count)?;
        self.sockets.values().try_for_each(|gem| write!(f, " <{:?}>", gem.colour))
    }
}

impl fmt::Display for Gem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} No. {}, {} %", self.colour, self.serial, self.charge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(entries: &[Entry]) -> Option<String> {
        let mut model = Model::default();
        model.read(entries, entries.iter().filter(|entry| !matches!(entry, Entry::Notified { .. })).count());
        model.mistake
    }

    fn arrows(count: u8) -> Seen {
        Seen { kind: Kind::Arrow, count, wear: 0, sockets: BTreeMap::new() }
    }

    #[test]
    fn a_true_story_has_no_mistake() {
        let id = ItemId::FIRST;
        let end = |stacks| Entry::Notified { stacks };
        let changed = Entry::Changed(id, arrows(2), vec!["count"]);
        let story = [Entry::Came(id, arrows(1)), end(1), changed, end(1), Entry::Gone(id, arrows(2)), end(0)];
        assert_eq!(told(&story), None);
    }

    #[test]
    fn a_call_without_a_change_is_a_mistake() {
        let id = ItemId::FIRST;
        for lie in [
            Entry::Came(id, arrows(1)),
            Entry::Changed(id, arrows(1), vec!["count"]),
            Entry::Changed(id, arrows(2), vec!["count", "wear"]),
            Entry::Changed(id, arrows(2), vec![]),
            Entry::Gone(id.next(), arrows(1)),
            Entry::GemChanged(Gem::default()),
            Entry::Notified { stacks: 2 },
        ] {
            let story = [Entry::Came(id, arrows(1)), lie, Entry::Notified { stacks: 1 }];
            assert!(told(&story).is_some(), "{story:?}");
        }
    }
}
