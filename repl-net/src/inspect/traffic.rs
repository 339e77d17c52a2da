//! Traffic statistics by class and property: a client counts the bits that it has received, and a server
//! counts the bits that it has sent.
//!
//! *Invariant:* each bit is counted at most once. An update that is sent in parts is counted once, as a
//! whole. The following are not counted: packet frames, the headers of segments, tables and fragments,
//! removals without a last state, and messages.

use repl_core::{BitSlice, Layout};

use crate::inspect::survey::{Account, Entry, Subject};

/// The traffic of one class. On a client, this is everything that it has received. On a server, this is the
/// sum of everything that it has sent to all clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassTraffic {
    /// The name of the class.
    pub class: &'static str,
    /// The number of openings. An opening creates an object on a client. It is sent again if its packet was
    /// lost. It is also sent if the client becomes the owner of the object, or if the object's role changes.
    pub opened: u64,
    /// The number of other updates of objects, including the last states of removed objects.
    pub updates: u64,
    /// The number of bits that identify the objects and list which properties follow.
    pub head_bits: u64,
    /// The traffic of each property, in ascending order of the handles.
    pub properties: Vec<PropertyTraffic>,
}

/// The traffic of one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyTraffic {
    /// The path of the property in the class.
    pub path: String,
    /// How many times the property was received or sent.
    pub updates: u64,
    /// The number of bits of its values.
    pub bits: u64,
}

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
