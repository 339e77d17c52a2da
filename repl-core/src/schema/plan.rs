//! Plans: a plan lists the plain memory of an object, which is compared as bytes instead of value by value.
//! The compiler computes the plans of each type.
//!
//! A value with a margin is a quantised value without `exact`. Clients keep the sent step while the value
//! differs from it by at most half a step plus the margin, a quarter of a step. In the margin, the bytes of
//! the value differ from the bytes in the shadow, but nothing is sent. To find only later changes, its bytes
//! are compared with the *seen bytes*: the bytes of the object at its last comparison.
//!
//! *Invariant:* a [`Run`] covers only replicated values that are equal if and only if their bytes are equal.
//! A scan never reads padding.

use crate::schema::contents::travels;
use crate::schema::property::Property;
use crate::schema::shape::{Field, Formatted, Kind, Shape};

/// The greatest number of runs (stretches of plain memory) of one kind in a plan. If a type has more runs,
/// the plan overflows.
const MAX_RUNS: usize = 32;
/// The bytes of an object after this offset are compared by the commands of their values. Objects with such
/// bytes have no seen bytes.
pub(crate) const MAX_OFFSET: usize = 16 << 10;
/// The greatest number of bytes of a stripe (a part of a run), because each byte has a bit in a mask.
const STRIPE_BYTES: usize = 64;
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

impl Run {
    /// Returns whether the bytes from `offset` on lie in this run.
    pub(crate) const fn has(&self, offset: usize, bytes: usize) -> bool {
        self.offset <= offset && offset + bytes <= self.offset + self.len
    }

    #[inline]
    pub(crate) const fn stripe_count(&self) -> usize {
        self.compared_len().div_ceil(STRIPE_BYTES)
    }

    #[inline]
    pub(crate) const fn stripe(&self, at: usize) -> Self {
        let (begin, len) = (at * STRIPE_BYTES, self.compared_len());
        let left = len - begin;
        Self { offset: self.offset + begin, len: if left < STRIPE_BYTES { left } else { STRIPE_BYTES } }
    }

    /// Returns how many bytes of the run are before [`MAX_OFFSET`].
    #[inline]
    const fn compared_len(&self) -> usize {
        let end = self.offset + self.len;
        (if end < MAX_OFFSET { end } else { MAX_OFFSET }).saturating_sub(self.offset)
    }
}

/// A run of values with a margin. Each comparison of an object stores their bytes as seen bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeenRun {
    /// Where the run is in the object.
    pub(crate) run: Run,
    /// The offset of the run in the seen bytes of the object.
    pub(crate) at: usize,
}

/// Up to [`MAX_RUNS`] runs in ascending order, which do not touch each other.
#[derive(Clone, Copy)]
struct Runs {
    list: [Run; MAX_RUNS],
    count: usize,
}

/// A plan of a type: which parts of its memory a scan or a comparison compares.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// Plain memory that is compared with the shadow.
    runs: Runs,
    /// Plain memory that is compared with the seen bytes, because its values have a margin.
    seen: [SeenRun; MAX_RUNS],
    seen_count: usize,
    strings: [usize; MAX_STRINGS],
    string_count: usize,
    rest: bool,
    overflow: bool,
}

/// A plan that is being made.
#[derive(Clone, Copy)]
struct Draft {
    plan: Plan,
    /// The runs of values with a margin, if these values have separate runs.
    seen: Option<Runs>,
}

/// The properties of a type that are in a plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The properties that are compared in every tick.
    Ordinary,
    /// All properties.
    Whole,
}

impl Runs {
    const NONE: Self = Self { list: [Run { offset: 0, len: 0 }; MAX_RUNS], count: 0 };

    const fn as_slice(&self) -> &[Run] {
        self.list.split_at(self.count).0
    }

    /// Inserts a run (a stretch of plain memory) in ascending order, and joins it with the runs next to it.
    /// Returns `None` if there is no room for another run.
    const fn with(self, offset: usize, len: usize) -> Option<Self> {
        let mut runs = self;
        let mut at = 0;
        while at < runs.count && runs.list[at].offset < offset {
            at += 1;
        }
        let after_previous = at > 0 && runs.list[at - 1].offset + runs.list[at - 1].len == offset;
        let before_next = at < runs.count && offset + len == runs.list[at].offset;
        if after_previous && before_next {
            runs.list[at - 1].len += len + runs.list[at].len;
            runs.count -= 1;
            while at < runs.count {
                runs.list[at] = runs.list[at + 1];
                at += 1;
            }
        } else if after_previous {
            runs.list[at - 1].len += len;
        } else if before_next {
            runs.list[at] = Run { offset, len: len + runs.list[at].len };
        } else if runs.count == MAX_RUNS {
            return None;
        } else {
            let mut i = runs.count;
            while i > at {
                runs.list[i] = runs.list[i - 1];
                i -= 1;
            }
            runs.list[at] = Run { offset, len };
            runs.count += 1;
        }
        Some(runs)
    }
}

impl Plan {
    /// Returns the plan of the properties of a type that are compared in every tick.
    pub(crate) const fn of(shape: &'static Shape) -> Self {
        Self::place_seen(Draft::of(shape, Part::Ordinary), &Self::whole(shape))
    }

    const fn whole(shape: &'static Shape) -> Self {
        let draft = Draft::of(shape, Part::Whole);
        let (mut plan, mut bytes, mut i) = (draft.plan, 0, 0);
        while let Some(seen) = &draft.seen
            && i < seen.count
        {
            plan.seen[i] = SeenRun { run: seen.list[i], at: bytes };
            bytes += seen.list[i].len;
            i += 1;
        }
        plan.seen_count = i;
        plan
    }

    /// Returns a plan with the runs of a draft. The offsets of its seen bytes are those in the plan `whole`.
    const fn place_seen(draft: Draft, whole: &Self) -> Self {
        let (mut plan, mut i) = (draft.plan, 0);
        while let Some(seen) = &draft.seen
            && i < seen.count
        {
            let run = seen.list[i];
            let Some(at) = whole.seen_at(run.offset, run.len) else { panic!("the whole plan has all runs") };
            plan.seen[i] = SeenRun { run, at };
            i += 1;
        }
        plan.seen_count = i;
        plan
    }

    /// Returns whether some properties must be compared by their commands in the program.
    pub(crate) const fn has_rest(&self) -> bool {
        self.rest
    }

    /// Returns whether the type has more runs or strings than a plan can contain. If a plan overflows, all
    /// properties must be compared by their commands in the program.
    pub(crate) const fn overflows(&self) -> bool {
        self.overflow
    }

    pub(crate) const fn runs(&self) -> &[Run] {
        self.runs.as_slice()
    }

    pub(crate) const fn seen_runs(&self) -> &[SeenRun] {
        self.seen.split_at(self.seen_count).0
    }

    pub(crate) const fn stripe_count(&self) -> usize {
        let (mut count, mut i) = (0, 0);
        while i < self.runs.count {
            count += self.runs.list[i].stripe_count();
            i += 1;
        }
        i = 0;
        while i < self.seen_count {
            count += self.seen[i].run.stripe_count();
            i += 1;
        }
        count
    }

    /// Returns all runs, first those that are compared with the shadow.
    pub(crate) fn all_runs(&self) -> impl Iterator<Item = Run> {
        self.runs().iter().copied().chain(self.seen_runs().iter().map(|seen| seen.run))
    }

    /// Returns the number of the seen bytes of an object. Only the plan of all properties covers all seen
    /// bytes.
    pub(crate) const fn seen_bytes(&self) -> usize {
        match self.seen_runs().last() {
            Some(last) => last.at + last.run.len,
            None => 0,
        }
    }

    /// Returns the position in the seen bytes at which the `len` bytes from `offset` of the object on are
    /// stored. Returns `None` if an object has no seen bytes for them.
    pub(crate) const fn seen_at(&self, offset: usize, len: usize) -> Option<usize> {
        let mut i = 0;
        while i < self.seen_count {
            let SeenRun { run, at } = self.seen[i];
            if run.has(offset, len) {
                return Some(at + (offset - run.offset));
            }
            i += 1;
        }
        None
    }

    pub(crate) const fn strings(&self) -> &[usize] {
        self.strings.split_at(self.string_count).0
    }
}

impl Draft {
    /// Returns the draft of a plan. Values with a margin get separate runs if both plans of the type have
    /// room for these runs.
    const fn of(shape: &'static Shape, part: Part) -> Self {
        let separate = Some(Runs::NONE);
        let has_room = shape.size <= MAX_OFFSET
            && !Self::with(shape, Part::Ordinary, separate).plan.overflow
            && !Self::with(shape, Part::Whole, separate).plan.overflow;
        Self::with(shape, part, if has_room { separate } else { None })
    }

    const fn with(shape: &'static Shape, part: Part, seen: Option<Runs>) -> Self {
        let plan = Plan {
            runs: Runs::NONE,
            seen: [SeenRun { run: Run { offset: 0, len: 0 }, at: 0 }; MAX_RUNS],
            seen_count: 0,
            strings: [0; MAX_STRINGS],
            string_count: 0,
            rest: false,
            overflow: false,
        };
        let draft = Self { plan, seen };
        match shape.kind {
            Kind::Struct(fields) => draft.with_object(shape.native(), fields, part),
            _ => draft,
        }
    }

    /// Adds those fields of the object itself that are in `part`.
    const fn with_object(self, object: Formatted, fields: &'static [Field], part: Part) -> Self {
        let mut draft = self;
        let mut i = 0;
        while i < fields.len() {
            let field = &fields[i];
            let is_compared = field.condition.is_compared_each_tick();
            if matches!(part, Part::Whole) || is_compared && !field.push {
                draft = draft.with_value(object.field(field), field.offset);
            } else if is_compared && marks_itself(object.field(field)) {
                draft.plan.rest = true;
            }
            i += 1;
        }
        draft
    }

    const fn with_value(self, property: Formatted, offset: usize) -> Self {
        let margins = if self.seen.is_some() { margins(property) } else { Margins::None };
        let is_uniform = !matches!(margins, Margins::Some);
        if property.shape.bitwise && is_uniform && all_travel(property) {
            return self.with_run(offset, property.shape.size, matches!(margins, Margins::All));
        }
        let mut draft = self;
        let mut i = 0;
        match property.kind() {
            Kind::Struct(fields) => {
                while i < fields.len() {
                    draft = draft.with_value(property.field(&fields[i]), offset + fields[i].offset);
                    i += 1;
                }
            }
            Kind::FixedArray { element, len } => {
                while i < len {
                    draft = draft.with_value(property.element(element), offset + i * element.size);
                    i += 1;
                }
            }
            Kind::Leaf(_) | Kind::Array(_) | Kind::Enum(_) if !travels(property) => {}
            Kind::Leaf(codec) if codec.is_string() => draft = draft.with_string(offset),
            Kind::Leaf(_) | Kind::Array(_) | Kind::Enum(_) | Kind::Items(_) | Kind::Entries(_) => {
                draft.plan.rest = true;
            }
        }
        draft
    }

    const fn with_string(self, offset: usize) -> Self {
        let mut draft = self;
        let plan = &mut draft.plan;
        if plan.string_count == MAX_STRINGS {
            plan.rest = true;
            plan.overflow = true;
        } else {
            plan.strings[plan.string_count] = offset;
            plan.string_count += 1;
        }
        draft
    }

    /// Adds a stretch of plain memory. Either all its values have a margin, or no value has a margin.
    const fn with_run(self, offset: usize, len: usize, has_margin: bool) -> Self {
        let mut draft = self;
        if len == 0 {
            return draft;
        }
        let runs = match &mut draft.seen {
            Some(seen) if has_margin => seen,
            _ => &mut draft.plan.runs,
        };
        match runs.with(offset, len) {
            Some(with_run) => *runs = with_run,
            None => {
                draft.plan.rest = true;
                draft.plan.overflow = true;
            }
        }
        draft
    }
}

/// Which of the values inside a property have a [margin](crate::schema::codec::Codec::has_margin).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Margins {
    None,
    Some,
    All,
}

impl Margins {
    const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, Self::None) => Self::None,
            (Self::All, Self::All) => Self::All,
            _ => Self::Some,
        }
    }
}

/// Returns which values of a property have a margin. Values inside arrays and collections do not count.
const fn margins(property: Formatted) -> Margins {
    match property.kind() {
        Kind::Leaf(codec) if codec.has_margin() => Margins::All,
        Kind::Leaf(_) | Kind::Array(_) | Kind::Enum(_) | Kind::Items(_) | Kind::Entries(_) => Margins::None,
        Kind::FixedArray { element, .. } => margins(property.element(element)),
        Kind::Struct([]) => Margins::None,
        Kind::Struct(fields) => {
            let mut found = margins(property.field(&fields[0]));
            let mut i = 1;
            while i < fields.len() {
                found = found.and(margins(property.field(&fields[i])));
                i += 1;
            }
            found
        }
    }
}

/// Returns whether a property is a collection, or contains a collection in a struct or fixed array.
/// Collections record every write to themselves (S129).
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
        Kind::Leaf(_) | Kind::Array(_) | Kind::Enum(_) | Kind::Entries(_) => false,
    }
}

/// Returns whether every part of a property takes bits on the wire. The bytes of a leaf without bits are
/// never compared.
const fn all_travel(property: Formatted) -> bool {
    match property.kind() {
        Kind::Leaf(_) | Kind::Array(_) | Kind::Enum(_) | Kind::Items(_) | Kind::Entries(_) => {
            travels(property)
        }
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
