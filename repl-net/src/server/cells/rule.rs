//! How an object finds its cell: its rule, which is small and made from its relevancy. The combined
//! relevancies of all objects are in a list.
//!
//! *Invariant:* an object with a combined relevancy that has [`Relevancy::Located`] as a part is in the cell
//! of its position.

use repl_core::ObjectRef;

use super::rank::Group;
use super::relevancy::Relevancy;

/// A [`Relevancy`] in 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rule {
    #[default]
    Always,
    OwnerOnly,
    Group(Group),
    Located,
    AttachedTo(ObjectRef<()>),
    Nobody,
    /// The relevancy with this number in [`Combinations`] is decided for each connection.
    Combined(u32),
}

impl Rule {
    /// Returns the slot of the object to which an object with this rule is attached.
    pub(crate) fn parent(self) -> Option<u32> {
        match self {
            Self::AttachedTo(parent) => parent.guid().map(|guid| guid.slot()),
            _ => None,
        }
    }
}

/// The combined relevancies of objects.
#[derive(Debug, Default)]
pub(super) struct Combinations {
    entries: Vec<Combination>,
    /// The entries that no object has.
    free: Vec<u32>,
}

#[derive(Debug)]
struct Combination {
    relevancy: Relevancy,
    /// How many objects have this relevancy, and how many classes have it as their default.
    uses: u32,
    /// How objects with this relevancy find their cells: the rule is [`Rule::Located`], [`Rule::Group`] or
    /// [`Rule::Always`].
    cell: Rule,
}

impl Combinations {
    /// Returns the rule for a relevancy. A combined relevancy is stored until its rule is
    /// [removed](Self::remove).
    pub(super) fn rule_for(&mut self, relevancy: Relevancy) -> Rule {
        match relevancy {
            Relevancy::Always => Rule::Always,
            Relevancy::OwnerOnly => Rule::OwnerOnly,
            Relevancy::Group(group) => Rule::Group(group),
            Relevancy::Located => Rule::Located,
            Relevancy::AttachedTo(parent) => Rule::AttachedTo(parent),
            Relevancy::Nobody => Rule::Nobody,
            combined => Rule::Combined(self.add(combined)),
        }
    }

    /// Returns the relevancy of an object with the rule `rule`.
    pub(super) fn relevancy(&self, rule: Rule) -> Relevancy {
        match rule {
            Rule::Always => Relevancy::Always,
            Rule::OwnerOnly => Relevancy::OwnerOnly,
            Rule::Group(group) => Relevancy::Group(group),
            Rule::Located => Relevancy::Located,
            Rule::AttachedTo(parent) => Relevancy::AttachedTo(parent),
            Rule::Nobody => Relevancy::Nobody,
            Rule::Combined(number) => self.get(number).clone(),
        }
    }

    fn add(&mut self, relevancy: Relevancy) -> u32 {
        let entry = Combination { cell: cell_rule(&relevancy), relevancy, uses: 1 };
        match self.free.pop() {
            Some(number) => {
                self.entries[number as usize] = entry;
                number
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        }
    }

    /// Records that one more object has the combined relevancy of a rule.
    pub(super) fn share(&mut self, rule: Rule) {
        if let Rule::Combined(number) = rule {
            self.entries[number as usize].uses += 1;
        }
    }

    /// Removes the combined relevancy of a rule, if no other object has it.
    pub(super) fn remove(&mut self, rule: Rule) {
        let Rule::Combined(number) = rule else { return };
        let entry = &mut self.entries[number as usize];
        entry.uses -= 1;
        if entry.uses == 0 {
            entry.relevancy = Relevancy::Nobody;
            self.free.push(number);
        }
    }

    pub(super) fn get(&self, number: u32) -> &Relevancy {
        &self.entries[number as usize].relevancy
    }

    /// Returns the rule by which an object with this rule finds its cell.
    pub(super) fn cell_rule(&self, rule: Rule) -> Rule {
        match rule {
            Rule::Combined(number) => self.entries[number as usize].cell,
            single => single,
        }
    }
}

/// Returns the rule by which objects with a combined relevancy find their cells. If all connections that see
/// an object are in one group, the object is in the cell of this group, and otherwise all connections receive
/// its shared data, as far as they see it.
fn cell_rule(relevancy: &Relevancy) -> Rule {
    if relevancy.has(&|part| *part == Relevancy::Located) {
        return Rule::Located;
    }
    let Relevancy::All(parts) = relevancy else { return Rule::Always };
    let group = parts.iter().find_map(|part| match part {
        Relevancy::Group(group) => Some(*group),
        _ => None,
    });
    group.map_or(Rule::Always, Rule::Group)
}
