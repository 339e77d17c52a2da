//! Plans: how the column of a class is scanned for objects that differ, fixed at compile time.
//!
//! Invariant: a run covers only bytes of replicated values whose equality is equality of bytes; padding is never read.

use crate::condition::Condition;
use crate::property::Property;
use crate::shape::{Field, Kind, Shape};

/// The most runs; what does not fit is compared by command.
const MAX_RUNS: usize = 32;
/// The most strings compared in place.
const MAX_STRINGS: usize = 8;

/// A stretch of plain memory inside an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Bytes from the start of the object.
    pub(crate) offset: usize,
    /// Bytes.
    pub(crate) len: usize,
}

/// What of a type is compared how.
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
    /// The plan of a type.
    pub(crate) const fn of(shape: &'static Shape) -> Self {
        let plan = Self {
            runs: [Run { offset: 0, len: 0 }; MAX_RUNS],
            run_count: 0,
            strings: [0; MAX_STRINGS],
            string_count: 0,
            rest: false,
            overflow: false,
        };
        match shape.kind {
            Kind::Struct(fields) => plan.with_fields(fields, 0, true),
            _ => plan,
        }
    }

    /// Whether some properties must be compared by command.
    pub(crate) const fn has_rest(&self) -> bool {
        self.rest
    }

    /// Whether there are more runs than a plan holds, so that everything must be compared by command.
    pub(crate) const fn overflows(&self) -> bool {
        self.overflow
    }

    pub(crate) const fn runs(&self) -> &[Run] {
        self.runs.split_at(self.run_count).0
    }

    pub(crate) const fn strings(&self) -> &[usize] {
        self.strings.split_at(self.string_count).0
    }

    const fn with_fields(self, fields: &'static [Field], base: usize, own: bool) -> Self {
        let mut plan = self;
        let mut i = 0;
        while i < fields.len() {
            let field = &fields[i];
            let skipped = own && (field.push || matches!(field.condition, Condition::InitialOnly | Condition::Never));
            if !skipped {
                plan = plan.with_value(field.shape, base + field.offset);
            }
            i += 1;
        }
        plan
    }

    const fn with_value(self, shape: &'static Shape, offset: usize) -> Self {
        if shape.bitwise {
            return self.with_run(offset, shape.size);
        }
        match shape.kind {
            Kind::Struct(fields) => self.with_fields(fields, offset, false),
            Kind::FixedArray { element, len } => {
                let mut plan = self;
                let mut i = 0;
                while i < len {
                    plan = plan.with_value(element, offset + i * element.size);
                    i += 1;
                }
                plan
            }
            Kind::Leaf(crate::codec::Codec::String { .. }) if self.string_count < MAX_STRINGS => {
                let mut plan = self;
                plan.strings[plan.string_count] = offset;
                plan.string_count += 1;
                plan
            }
            Kind::Leaf(_) | Kind::Array(_) => Self { rest: true, ..self },
        }
    }

    /// Adds a stretch in the place that keeps the runs ascending, joined with the runs it touches.
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

/// Gives each property type its plan as a constant of its own, so that the scan is compiled for it.
pub(crate) trait Planned: Property {
    const PLAN: Plan = Plan::of(Self::SHAPE);
}

impl<T: Property> Planned for T {}
