//! Sizes: the number of bits that the values of an object may take. The server uses sizes so that no object
//! becomes larger than clients accept.
//!
//! *Invariant:* the size that is computed for the current values of an object is an upper bound: no update
//! and no opening (the first update of an object) of these values takes more bits, whichever of them have
//! changed.

use crate::diff::item_sizes::ItemSizes;
use crate::diff::scale::{HEADER_BITS, KEYED_HEADER_BITS, most_bits};
use crate::ids::handles::HandleSet;
use crate::schema::command::{Command, CommandKind};
use crate::schema::program::Program;

/// The sizes that are known for all objects of a class.
#[derive(Debug)]
pub(crate) struct Sizes {
    /// The greatest number of bits of an object. `most_bits` is `u64::MAX` if the class has a type that
    /// serialises itself and may take any number of bits.
    pub(crate) most_bits: u64,
    /// The number of bits of everything in an object except the properties in `varying`.
    pub(crate) fixed_bits: u64,
    /// The handles of properties whose values vary in size.
    pub(crate) varying: HandleSet,
    pub(crate) items: ItemSizes,
}

impl Sizes {
    pub(crate) fn of(program: &Program) -> Self {
        let head = HEADER_BITS + u64::from(program.handles());
        let mut sizes = Self {
            most_bits: head,
            fixed_bits: head,
            varying: HandleSet::new(),
            items: ItemSizes::default(),
        };
        for command in program.commands_of(program.own_table()) {
            let most = most_bits(program, command);
            sizes.most_bits = sizes.most_bits.saturating_add(most);
            match fixed_bits(command) {
                Some(bits) => sizes.fixed_bits += bits,
                None => sizes.varying.insert(command.handle),
            }
        }
        sizes
    }
}

fn fixed_bits(command: &Command) -> Option<u64> {
    match &command.kind {
        CommandKind::Leaf(leaf) => leaf.codec.width_bits().map(u64::from),
        // The elements of a collection do not count, because a collection is sent in as many parts as needed.
        CommandKind::Items(_) | CommandKind::Entries(_) => Some(KEYED_HEADER_BITS),
        CommandKind::Array(_) | CommandKind::Enum(_) | CommandKind::Variant(_) | CommandKind::Return => None,
    }
}
