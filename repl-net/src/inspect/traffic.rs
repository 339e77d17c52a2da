//! Traffic statistics: counts bits by class and property, on a client those that it received, and on a server
//! those that it has sent.
//!
//! *Invariant:* each bit is counted at most once, and an update in parts once as a whole. Not counted are
//! frames of packets, headers of segments, tables and fragments, removals without a last state, and messages.

use repl_core::{BitSlice, Layout};

use crate::inspect::survey::{Account, Entry, Subject};

/// The traffic of one class: what a client received, or what a server has sent to all clients together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassTraffic {
    /// The name of the class.
    pub class: &'static str,
    /// How many openings there were. An opening creates an object on a client. It is sent again if its packet
    /// was lost, and to tell a client that it owns the object or has another role.
    pub opened: u64,
    /// How many other updates of objects there were, the last states of removed objects included.
    pub updates: u64,
    /// The number of bits that identify the object and the properties that follow.
    pub head_bits: u64,
    /// The traffic of each property, in the order of the handles.
    pub properties: Vec<PropertyTraffic>,
}

/// The traffic of one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyTraffic {
    /// The property's path.
    pub path: String,
    /// How many times the property was received or sent.
    pub updates: u64,
    /// The number of bits of its values.
    pub bits: u64,
}

/// The traffic of all classes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) classes: Vec<ClassTraffic>,
}

impl Traffic {
    pub(crate) fn set_layouts<'a>(&mut self, layouts: impl Iterator<Item = &'a Layout>) {
        self.classes = layouts
            .map(|layout| ClassTraffic {
                class: layout.name(),
                opened: 0,
                updates: 0,
                head_bits: 0,
                properties: layout
                    .paths()
                    .into_iter()
                    .map(|path| PropertyTraffic { path, updates: 0, bits: 0 })
                    .collect(),
            })
            .collect();
    }
}

impl Account for Traffic {
    fn entry(&mut self, entry: Entry, subject: Subject<'_>, head_bits: usize) {
        let Some(traffic) = self.classes.get_mut(usize::from(subject.class)) else { return };
        let count = match entry {
            Entry::Opening => &mut traffic.opened,
            Entry::Update | Entry::LastState(_) => &mut traffic.updates,
            Entry::Removal(_) | Entry::Part(..) => return,
        };
        *count = count.saturating_add(1);
        traffic.head_bits = traffic.head_bits.saturating_add(head_bits as u64);
    }

    fn property(&mut self, subject: Subject<'_>, handle: u32, bits: BitSlice<'_>) {
        let class = self.classes.get_mut(usize::from(subject.class));
        let property = class.and_then(|class| class.properties.get_mut(handle.wrapping_sub(1) as usize));
        if let Some(property) = property {
            property.updates = property.updates.saturating_add(1);
            property.bits = property.bits.saturating_add(bits.len() as u64);
        }
    }
}
