//! Traffic statistics: counts the bits that a client received, by class and property.
//!
//! *Invariant:* each bit is counted at most once. Not counted are frames of packets, headers of segments,
//! tables and fragments, closings, and messages.

use repl_core::Layout;

/// The traffic of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassTraffic {
    /// The name of the class.
    pub class: &'static str,
    /// The number of objects that were created.
    pub opened: u64,
    /// The number of updates of objects, without the updates that created objects.
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
    /// How many times the property was received.
    pub updates: u64,
    /// The number of bits of the received values.
    pub bits: u64,
}

/// The received bits of all classes.
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

    pub(crate) fn object(&mut self, class: u16, is_new: bool, head_bits: usize) {
        if let Some(traffic) = self.classes.get_mut(class as usize) {
            if is_new {
                traffic.opened = traffic.opened.saturating_add(1);
            } else {
                traffic.updates = traffic.updates.saturating_add(1);
            }
            traffic.head_bits = traffic.head_bits.saturating_add(head_bits as u64);
        }
    }

    pub(crate) fn property(&mut self, class: u16, handle: u32, bits: usize) {
        let class = self.classes.get_mut(class as usize);
        let property = class.and_then(|class| class.properties.get_mut(handle.wrapping_sub(1) as usize));
        if let Some(property) = property {
            property.updates = property.updates.saturating_add(1);
            property.bits = property.bits.saturating_add(bits as u64);
        }
    }
}
