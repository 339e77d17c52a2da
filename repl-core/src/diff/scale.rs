//! Computes upper limits of the number of bits that values take.
//!
//! *Invariant:* the size that is computed for the current values of an object is an upper bound: no update
//! and no opening (the first update of an object) of these values takes more bits, whichever of them have
//! changed.

use crate::bits::BitWriter;
use crate::bits::count::LEAST_BITS;
use crate::ids::handles::HandleSet;
use crate::ids::identity::Identity;
use crate::object::level::{Array, Elements, Leaf, Level, Slot};
use crate::schema::codec::Codec;
use crate::schema::command::{ArrayCommand, Command, CommandKind};
use crate::schema::program::Program;

/// The greatest number of bits that an object takes in a packet, without its handles and values. The header
/// of an object consists of the segment, slot, generation, class, archetype, the form of the handles, and the
/// end.
pub(crate) const HEADER_BITS: u64 = 512;
/// The greatest number of bits of a `String`, without its bytes.
const TEXT_HEADER_BITS: u64 = 64;
/// The number of bits of a collection, without its items: the removals, and the start and the end of the list
/// of items.
pub(crate) const KEYED_HEADER_BITS: u64 = 96;
/// The number of bits of an item, without its id, label, handles and values.
const ITEM_HEADER_BITS: u64 = 16;
/// The greatest number of bits of a label, without its bytes.
const LABEL_HEADER_BITS: u64 = 20;
/// The number of bits of a `char` in the longer of its two forms.
const CHAR_BITS: u64 = 22;
/// The greatest number of bits of a reference: a slot and a generation of 32 bits each, in their longest
/// forms.
const REFERENCE_BITS: u64 = 1 + 2 * 66;
/// The greatest number of bits of a reference to an asset: a number of 32 bits in its longest form.
const ASSET_BITS: u64 = 1 + 66;

/// Returns the greatest number of bits that the value of a command of the program can take.
pub(crate) fn most_bits(program: &Program, command: &Command) -> u64 {
    match &command.kind {
        CommandKind::Leaf(leaf) => match leaf.codec {
            Codec::String { max_bytes, .. } => TEXT_HEADER_BITS + u64::from(max_bytes) * 8,
            Codec::Char => CHAR_BITS,
            Codec::Reference => REFERENCE_BITS,
            Codec::Asset => ASSET_BITS,
            codec => codec.width_bits().map_or(u64::MAX, u64::from),
        },
        CommandKind::Array(array) => {
            let values = most_element_bits(program, array.table, array.handles);
            let max_len = u64::from(array.max_len);
            let element = values.max(array.least_bits.into()).saturating_add(array.handles.into());
            element.saturating_mul(max_len).saturating_add(array_header_bits(max_len))
        }
        CommandKind::Enum(command) => {
            let variants = (0..command.shape.variants.len()).filter_map(|at| program.variant(command, at));
            let of_variant = |variant: &ArrayCommand| {
                let values = most_element_bits(program, variant.table, variant.handles);
                values.saturating_add(variant.handles.into())
            };
            let header = array_header_bits(command.shape.variants.len() as u64);
            variants.map(of_variant).max().unwrap_or(0).saturating_add(header)
        }
        CommandKind::Items(_) | CommandKind::Entries(_) => KEYED_HEADER_BITS,
        CommandKind::Variant(_) | CommandKind::Return => 0,
    }
}

/// Returns the greatest number of bits of a value inside an element. Collections and maps inside a new
/// element are sent whole.
fn most_inner_bits(program: &Program, command: &Command) -> u64 {
    match &command.kind {
        CommandKind::Items(items) => {
            let values = most_element_bits(program, items.table, items.handles);
            let item = values.saturating_add(ITEM_HEADER_BITS + u64::from(items.handles));
            item.saturating_mul(items.max_len.into()).saturating_add(KEYED_HEADER_BITS)
        }
        CommandKind::Entries(_) => u64::MAX,
        _ => most_bits(program, command),
    }
}

/// Returns the greatest number of bits of the values of one element with this handle table.
pub(crate) fn most_element_bits(program: &Program, table: u32, handles: u32) -> u64 {
    let commands = program.commands_of(program.table(table, handles));
    commands.map(|command| most_inner_bits(program, command)).fold(0, u64::saturating_add)
}

/// Returns the greatest number of bits of an array of `len` elements, without the values of the elements and
/// the list of changed elements. The header of an array consists of the length of the array, the index of the
/// first new element, and two bits that select forms.
fn array_header_bits(len: u64) -> u64 {
    let count = 2 * u64::from((len + 8).ilog2());
    let tail = 1 + u64::from((len | 1).ilog2()) + 1;
    count + tail + 2
}

/// Counts the bits of values of an object.
#[derive(Default)]
pub(crate) struct Scale {
    writer: BitWriter,
    /// Whether any counted value has no wire form. For such a value, the shadow keeps an older value.
    pub(crate) found_formless: bool,
}

impl Scale {
    pub(crate) fn slot(&mut self, slot: Slot<'_>) -> u64 {
        match slot {
            Slot::Leaf(leaf) => self.leaf(leaf),
            Slot::Array(array) => self.array(array),
            Slot::Items(items) => self.elements(items),
            Slot::Entries(entries) => self.elements(entries),
        }
    }

    fn elements<I: Identity>(&mut self, elements: Elements<'_, I>) -> u64 {
        if !I::IS_KEY && elements.collection.len() > elements.max_len() as usize {
            self.found_formless = true;
            return 0;
        }
        let least = if I::IS_KEY { 0 } else { u64::from(LEAST_BITS) };
        let ids = elements.collection.ids();
        let mut bits = KEYED_HEADER_BITS;
        for id in &ids {
            let label = elements.collection.label(id);
            let label = label.map_or(0, |label| LABEL_HEADER_BITS + 8 * label.as_bytes().len() as u64);
            let values = elements.element(id).map_or(0, |element| self.level(element).max(least));
            let head = ITEM_HEADER_BITS + id.most_bits(&ids) + u64::from(elements.handles());
            bits += head + label + values;
        }
        bits
    }

    fn leaf(&mut self, leaf: Leaf<'_>) -> u64 {
        if let Some(bits) = leaf.width_bits() {
            return bits.into();
        }
        self.writer.clear();
        self.found_formless |= leaf.write(&mut self.writer).is_err();
        self.writer.bit_len() as u64
    }

    fn array(&mut self, array: Array<'_>) -> u64 {
        let (len, least) = (array.len() as u64, u64::from(array.least_bits()));
        let Some(first) = array.element(0) else { return array_header_bits(0) };
        if array.count() > array.max_count() as usize {
            self.found_formless = true;
            return 0;
        }
        // If all values have fixed widths, all elements take the same number of bits.
        let widths = first.slots().map(|slot| match slot {
            Slot::Leaf(leaf) => leaf.width_bits().map(u64::from),
            Slot::Array(_) | Slot::Items(_) | Slot::Entries(_) => None,
        });
        let values = match widths.sum::<Option<u64>>() {
            Some(bits) => bits.max(least) * len,
            None => (0..array.len())
                .filter_map(|index| array.element(index))
                .map(|element| self.level(element).max(least))
                .sum(),
        };
        array_header_bits(len.max(array.count() as u64)) + len * u64::from(array.handles()) + values
    }

    fn level(&mut self, level: Level<'_>) -> u64 {
        level.slots().map(|slot| self.slot(slot)).sum()
    }

    pub(crate) fn values(&mut self, level: Level<'_>, handles: &HandleSet) -> u64 {
        handles.iter().filter_map(|handle| level.slot(handle)).map(|slot| self.slot(slot)).sum()
    }
}

/// Accepts growths (increases of values in bits) in the given order, as long as `bits` plus the accepted
/// growths is at most `max_bits`. Returns the growths that were not accepted.
pub(crate) fn fit<G>(bits: u64, max_bits: u64, growths: Vec<G>, by: impl Fn(&G) -> i128) -> Vec<G> {
    let mut bits = i128::from(bits);
    let mut refused = growths;
    refused.retain(|growth| {
        let after = bits + by(growth);
        let is_refused = after > i128::from(max_bits);
        if !is_refused {
            bits = after;
        }
        is_refused
    });
    refused
}
