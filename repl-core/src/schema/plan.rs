//! Plans: a plan says which memory of an object is plain, so that it can be compared without a look at each
//! value. The compiler computes the plans of each type.
//!
//! *Invariant:* a [`Run`] covers only replicated values that are equal if and only if their bytes are equal.
//! A scan never reads padding.

use crate::schema::codec::Codec;
use crate::schema::layout::travels;
use crate::schema::property::Property;
use crate::schema::shape::{Field, Formatted, Kind, Shape};

/// The greatest number of runs (stretches of plain memory) in a plan. If a type has more runs, the plan
/// overflows.
const MAX_RUNS: usize = 32;
/// The greatest number of strings in a plan. If a type has more strings, the plan overflows.
const MAX_STRINGS: usize = 8;

/// A range of plain memory inside an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The offset of the range from the start of the object, in bytes.
    pub(crate) offset: usize,
    /// The length of the range in bytes.
    pub(crate) len: usize,
}

/// A plan of a type: which parts of its memory a scan or a comparison compares.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    runs: [Run; MAX_RUNS],
    run_count: usize,
    strings: [usize; MAX_STRINGS],
    string_count: usize,
    rest: bool,
    overflow: bool,
}

impl Plan {
    /// Returns the plan of the properties of a type that are compared in every tick.
    pub(crate) const fn of(shape: &'static Shape) -> Self {
        Self::with(shape, false)
    }

    /// Returns the plan of all properties of a type.
    const fn whole(shape: &'static Shape) -> Self {
        Self::with(shape, true)
    }

    const fn with(shape: &'static Shape, with_all: bool) -> Self {
        let plan = Self {
            runs: [Run { offset: 0, len: 0 }; MAX_RUNS],
            run_count: 0,
            strings: [0; MAX_STRINGS],
            string_count: 0,
            rest: false,
            overflow: false,
        };
        match shape.kind {
            Kind::Struct(fields) => plan.with_object(shape.native(), fields, with_all),
            _ => plan,
        }
    }

    /// Returns whether some properties must be compared by their commands in the program.
    pub(crate) const fn has_rest(&self) -> bool {
        self.rest
    }

    /// Returns whether the type has more runs or strings than a plan can hold. If a plan overflows, all
    /// properties must be compared by their commands in the program.
    pub(crate) const fn overflows(&self) -> bool {
        self.overflow
    }

    pub(crate) const fn runs(&self) -> &[Run] {
        self.runs.split_at(self.run_count).0
    }

    pub(crate) const fn strings(&self) -> &[usize] {
        self.strings.split_at(self.string_count).0
    }

    /// Adds the fields of the object itself to the plan: all if `with_all` is true, and otherwise those that
    /// are compared in every tick.
    const fn with_object(self, object: Formatted, fields: &'static [Field], with_all: bool) -> Self {
        let mut plan = self;
        let mut i = 0;
        while i < fields.len() {
            let field = &fields[i];
            let is_compared = field.condition.is_compared_each_tick();
            if with_all || is_compared && !field.push {
                plan = plan.with_value(object.field(field), field.offset);
            } else if is_compared && marks_itself(object.field(field)) {
                plan.rest = true;
            }
            i += 1;
        }
        plan
    }

    const fn with_value(self, property: Formatted, offset: usize) -> Self {
        if property.shape.bitwise && all_travel(property) {
            return self.with_run(offset, property.shape.size);
        }
        let mut plan = self;
        let mut i = 0;
        match property.kind() {
            Kind::Struct(fields) => {
                while i < fields.len() {
                    plan = plan.with_value(property.field(&fields[i]), offset + fields[i].offset);
                    i += 1;
                }
            }
            Kind::FixedArray { element, len } => {
                while i < len {
                    plan = plan.with_value(property.element(element), offset + i * element.size);
                    i += 1;
                }
            }
            Kind::Leaf(_) | Kind::Array(_) if !travels(property) => {}
            Kind::Leaf(Codec::String { text, .. }) if text.is_string => plan = plan.with_string(offset),
            Kind::Leaf(_) | Kind::Array(_) | Kind::Items(_) | Kind::Entries(_) => plan.rest = true,
        }
        plan
    }

    const fn with_string(self, offset: usize) -> Self {
        let mut plan = self;
        if plan.string_count == MAX_STRINGS {
            plan.rest = true;
            plan.overflow = true;
        } else {
            plan.strings[plan.string_count] = offset;
            plan.string_count += 1;
        }
        plan
    }

    /// Inserts a run (a stretch of plain memory) in ascending order, and joins it with the runs next to it.
    const fn with_run(self, offset: usize, len: usize) -> Self {
        let mut plan = self;
        if len == 0 {
            return plan;
        }
        let mut at = 0;
        while at < plan.run_count && plan.runs[at].offset < offset {
            at += 1;
        }
        let after_previous = at > 0 && plan.runs[at - 1].offset + plan.runs[at - 1].len == offset;
        let before_next = at < plan.run_count && offset + len == plan.runs[at].offset;
        if after_previous && before_next {
            plan.runs[at - 1].len += len + plan.runs[at].len;
            plan.run_count -= 1;
            while at < plan.run_count {
                plan.runs[at] = plan.runs[at + 1];
                at += 1;
            }
        } else if after_previous {
            plan.runs[at - 1].len += len;
        } else if before_next {
            plan.runs[at] = Run { offset, len: len + plan.runs[at].len };
        } else if plan.run_count == MAX_RUNS {
            plan.rest = true;
            plan.overflow = true;
        } else {
            let mut i = plan.run_count;
            while i > at {
                plan.runs[i] = plan.runs[i - 1];
                i -= 1;
            }
            plan.runs[at] = Run { offset, len };
            plan.run_count += 1;
        }
        plan
    }
}

/// Returns whether a property is a collection, or contains a collection in a struct or fixed array.
/// Collections record by themselves that they were written to (S129).
const fn marks_itself(property: Formatted) -> bool {
    match property.kind() {
        Kind::Items(_) => true,
        Kind::Struct(fields) => {
            let mut i = 0;
            while i < fields.len() {
                if marks_itself(property.field(&fields[i])) {
                    return true;
                }
                i += 1;
            }
            false
        }
        Kind::FixedArray { element, len } => len > 0 && marks_itself(property.element(element)),
        Kind::Leaf(_) | Kind::Array(_) | Kind::Entries(_) => false,
    }
}

/// Returns whether every part of a property takes bits on the wire. The bytes of a leaf without bits are
/// never compared.
const fn all_travel(property: Formatted) -> bool {
    match property.kind() {
        Kind::Leaf(_) | Kind::Array(_) | Kind::Items(_) | Kind::Entries(_) => travels(property),
        Kind::Struct(fields) => {
            let mut i = 0;
            while i < fields.len() {
                if !all_travel(property.field(&fields[i])) {
                    return false;
                }
                i += 1;
            }
            true
        }
        Kind::FixedArray { element, len } => len == 0 || all_travel(property.element(element)),
    }
}

/// Gives each property type its plans as constants, so that the scan is compiled for that type.
pub(crate) trait Planned: Property {
    /// The plan of the properties that are compared in every tick, which a scan compares.
    const PLAN: Plan = Plan::of(Self::SHAPE);
    /// The plan of all properties.
    const WHOLE: Plan = Plan::whole(Self::SHAPE);
}

impl<T: Property> Planned for T {}
