//! The classes of one side, by their numbers, and the data about them that the handshake compares (R21).
//!
//! *Invariant:* both sides number their classes in ascending order of their names, so two sides with the same
//! classes have the same numbers.

use repl_core::{Form, Layout, PropertyIndex};
use repl_link::parts::{Agreement, ChannelTerms, ClassForms, ClassTerms};

/// All registered classes, sorted by name.
#[derive(Default)]
pub(crate) struct ClassList {
    /// The wire number of each class, by the class's number on this side.
    wire: Vec<u32>,
    agreement: Agreement,
}

impl ClassList {
    /// Creates the list. The classes are in the order of their registration, each with the checksums of its
    /// sets of initial values.
    pub(crate) fn new(
        classes: impl Iterator<Item = (&'static Layout, Vec<Vec<u64>>)>,
        channels: impl Iterator<Item = ChannelTerms>,
    ) -> Self {
        let (layouts, terms): (Vec<_>, Vec<_>) =
            classes.map(|(layout, begins)| (layout, terms_of(layout, begins))).unzip();
        let agreement = Agreement::new(terms, channels.collect());
        let number_of = |layout: &Layout| agreement.number_of(layout.name()).unwrap_or(0);
        Self { wire: layouts.into_iter().map(number_of).collect(), agreement }
    }

    pub(crate) fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    pub(crate) fn len(&self) -> u32 {
        self.wire.len() as u32
    }

    /// Returns the wire number of the class that was registered as number `class`.
    pub(crate) fn wire(&self, class: usize) -> u32 {
        self.wire.get(class).copied().unwrap_or(0)
    }

    /// Returns the registration number of the class with a wire number.
    pub(crate) fn registered(&self, wire: u32) -> Option<usize> {
        self.wire.iter().position(|&number| number == wire)
    }
}

fn terms_of(layout: &'static Layout, begins: Vec<Vec<u64>>) -> ClassTerms {
    ClassTerms::new(layout.name(), layout.checksum(), Box::new(FormsOf(layout)), begins)
}

/// Computes the forms (descriptions for the handshake) of a class from its layout.
struct FormsOf(&'static Layout);

impl ClassForms for FormsOf {
    fn forms(&self) -> Vec<Form> {
        self.0.forms()
    }

    fn property(&self, number: usize) -> &str {
        self.0.property_name(PropertyIndex::new(number))
    }
}

/// Checks that no class in `known` has the same wire name as the class with this layout. If two classes had
/// the same name, updates of one class would be applied to objects of the other.
///
/// # Panics
/// Panics if a class in `known` has the same name.
#[track_caller]
pub(crate) fn assert_sole_name(layout: &Layout, known: &mut dyn Iterator<Item = &'static Layout>) {
    for other in known {
        assert!(
            other.name() != layout.name(),
            "`{}` and `{}` are both called `{}` on the wire: give one of them another name with `#[replicated(name = \"…\")]`",
            other.rust_name(),
            layout.rust_name(),
            layout.name(),
        );
    }
}
