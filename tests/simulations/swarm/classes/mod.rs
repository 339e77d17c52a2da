//! The classes of the random worlds. Together they have every kind of property and every condition.
//!
//! *Invariant:* a change touches one property and keeps it within its limits.

use repl::{Condition, Replicated};

use crate::ledger::Leaves;

/// The callbacks that ran on a client's copy of an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// The number of updates that the client received.
    pub(crate) receipts: u32,
    /// Notifies: the property, its old value, and its value at that moment.
    pub(crate) notifies: Vec<(usize, u64, u64)>,
    pub(crate) inits: u32,
    expects_post: bool,
}

impl Shown {
    fn pre(&mut self) {
        assert!(!self.expects_post, "a receipt within a receipt");
        self.expects_post = true;
    }

    fn post(&mut self) {
        assert!(std::mem::take(&mut self.expects_post), "a receipt ends that did not begin");
        self.receipts += 1;
    }
}

/// A class of the worlds.
pub(crate) trait Creature: Replicated + Clone + Default {
    /// The conditions of the class's properties, in the order of the properties.
    const CONDITIONS: &'static [Condition];
    /// Properties that are compared only when they are marked.
    const PUSH: &'static [usize] = &[];
    /// Properties that are off for each connection until a test switches them on for that connection.
    const STARTS_OFF: &'static [usize] = &[];
    /// Properties whose items are sent in parts if there are many.
    const COLLECTIONS: &'static [usize] = &[];
    /// Returns the archetype from which clients make the object.
    fn archetype(veteran: bool) -> Self {
        let _ = veteran;
        Self::default()
    }
    /// Returns the leaves of all properties.
    fn leaves(&self, leaves: &mut Leaves);
    fn change(&mut self, property: usize, ink: &mut Ink<'_>);
    /// Adds many items to a collection, if it has one.
    fn grow(&mut self, ink: &mut Ink<'_>) {
        let _ = ink;
    }
    /// Returns the values of the properties with notifies.
    fn notified(&self) -> Vec<(usize, u64)>;
    /// Returns the position, if the class has positions.
    fn place(&self) -> Option<[f32; 2]> {
        None
    }
    fn shown(&mut self) -> &mut Shown;
    /// Returns the number that the test gave the object. This number is not replicated.
    fn uid(&mut self) -> &mut u32;
}

macro_rules! tell {
    ($($class:ident),*) => {$(
        impl Callbacks for $class {
            fn pre_net_receive(&mut self) {
                self.shown.pre();
            }

            fn post_net_receive(&mut self) {
                self.shown.post();
            }

            fn post_net_init(&mut self) {
                self.shown.inits += 1;
            }
        }
    )*};
}

mod actor;
mod bird;
mod chest;
mod dot;
mod golem;
mod hoard;
mod ink;
mod pack;
mod scroll;
mod sign;
mod vault;

pub(crate) use actor::Actor;
pub(crate) use bird::{Bird, EXTENT};
pub(crate) use chest::Chest;
pub(crate) use dot::Dot;
pub(crate) use golem::Golem;
pub(crate) use hoard::Hoard;
pub(crate) use ink::Ink;
pub(crate) use pack::Pack;
pub(crate) use scroll::Scroll;
pub(crate) use sign::Sign;
pub(crate) use vault::Vault;

fn leaves_of_list<T>(leaves: &mut Leaves, list: &[T], mut each: impl FnMut(&mut Leaves, usize, &T)) {
    for (at, element) in list.iter().enumerate() {
        each(leaves, at, element);
    }
}
