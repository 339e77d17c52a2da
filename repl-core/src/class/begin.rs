//! Checksums of the initial values of objects: the values of `Default` or of an archetype (an object whose
//! values new objects copy). The server and the client compare the checksums of initial values in the
//! handshake (R21).
//!
//! *Invariant:* a checksum covers exactly the bits that the values would have on the wire. So two builds have
//! equal checksums if clients see the same initial values.

use super::Class;
use super::tables::Tables;
use crate::bits::{BitWriter, WriteError};
use crate::changes::changelist::Changelist;
use crate::ids::handles::HandleSet;
use crate::ids::property_index::PropertyIndex;
use crate::object::level::{Level, Slot};
use crate::schema::checksum::Checksum;
use crate::schema::condition::Condition;
use crate::schema::replicated::Replicated;
use crate::wire::encode::write_values;

impl<T: Replicated> Class<T> {
    /// Returns, for each property, a checksum of the bits of its value in `object`. Values without a wire
    /// form all have the same checksum, and properties that are never sent also all have the same checksum.
    /// Costs O(values of the object).
    #[must_use]
    pub fn begin_sums(&self, object: &T) -> Vec<u64> {
        self.tables.begin_sums(self.level(object))
    }
}

impl Tables {
    fn begin_sums(&self, object: Level<'_>) -> Vec<u64> {
        let mut writer = BitWriter::new();
        let properties = (0..self.program.layout().properties()).map(PropertyIndex::new);
        properties.map(|property| self.begin_sum(object, property, &mut writer)).collect()
    }

    fn begin_sum(&self, object: Level<'_>, property: PropertyIndex, writer: &mut BitWriter) -> u64 {
        let mut sum = Checksum::new();
        if self.conditions.condition_of(property) == Condition::Never {
            return sum.finish();
        }
        for handle in self.conditions.handles_of(property).iter() {
            writer.clear();
            sum = match self.write_one(object, handle, writer) {
                Ok(()) => {
                    let bits = writer.bit_len() as u64;
                    writer.finish().iter().fold(sum.number(bits), |sum, &byte| sum.number(byte.into()))
                }
                Err(_) => sum.text("no form"),
            };
        }
        sum.finish()
    }

    fn write_one(&self, level: Level<'_>, handle: u32, writer: &mut BitWriter) -> Result<(), WriteError> {
        if let Some(Slot::Leaf(leaf)) = level.slot(handle) {
            return leaf.write(writer);
        }
        let mut whole = Changelist::new();
        self.insert_whole(&HandleSet::from_iter([handle]), &mut whole);
        write_values(level, &whole, writer)
    }
}
