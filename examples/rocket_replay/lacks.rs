//! Counts the updates that were not replicated, mostly because the example's classes have no field for the
//! value.
//!
//! *Invariant:* each update or closing that was not replicated is counted in exactly one line.

use std::collections::BTreeMap;
use std::fmt;

use boxcars::Attribute;

/// A kind of update that was not replicated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lack {
    /// An update of a property for which the class of the actor has no field: the name of the property, the
    /// kinds of its values, and the class.
    Property { name: String, kinds: String, class: &'static str },
    /// An update of a property of an actor that is not open: the name of the property.
    OfClosed(String),
    /// The closing of an actor that is not open.
    Closing,
}

/// How often updates of a kind were not replicated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Times {
    updates: u64,
    /// The number of the first frame with such an update, counted from 0.
    first_frame: usize,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Lacks {
    times: BTreeMap<Lack, Times>,
}

impl Lacks {
    /// Counts updates of one kind and frame that were not replicated.
    pub(crate) fn add(&mut self, lack: Lack, updates: u64, frame: usize) {
        self.times.entry(lack).or_insert(Times { updates: 0, first_frame: frame }).updates += updates;
    }

    /// Returns a line for each kind of update, the most frequent first.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lacks: Vec<(&Lack, &Times)> = self.times.iter().collect();
        lacks.sort_by_key(|(_, times)| std::cmp::Reverse(times.updates));
        let line = |(lack, times): (&Lack, &Times)| {
            let Times { updates, first_frame } = *times;
            let times = if updates == 1 { "once".to_owned() } else { format!("{updates} times") };
            format!("{lack}: {times}, first in frame {first_frame}")
        };
        lacks.into_iter().map(line).collect()
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Property { name, kinds, class } => {
                write!(f, "{name} ({kinds}), for which the class {class} has no place")
            }
            Self::OfClosed(name) => write!(f, "{name}, of an actor that is not open"),
            Self::Closing => write!(f, "the closing of an actor that is not open"),
        }
    }
}

/// Returns the decoder's names for the kinds of these values, each name once, as one text.
pub(crate) fn kinds(values: &[&Attribute]) -> String {
    let mut kinds: Vec<String> = Vec::new();
    for value in values {
        // The `Debug` text of an enum begins with the name of its variant.
        let text = format!("{value:?}");
        let kind: String = text.chars().take_while(|letter| letter.is_alphanumeric()).collect();
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_property_has_one_line_with_its_first_frame() {
        let property = |name: &str| Lack::Property {
            name: name.to_owned(),
            kinds: kinds(&[&Attribute::Boolean(true), &Attribute::Boolean(false), &Attribute::Byte(7)]),
            class: "Car",
        };
        let mut lacks = Lacks::default();
        lacks.add(property("A"), 1, 7);
        lacks.add(property("B"), 2, 8);
        lacks.add(property("B"), 3, 9);
        lacks.add(Lack::Closing, 2, 11);
        let lines = [
            "B (Boolean, Byte), for which the class Car has no place: 5 times, first in frame 8",
            "the closing of an actor that is not open: 2 times, first in frame 11",
            "A (Boolean, Byte), for which the class Car has no place: once, first in frame 7",
        ];
        assert_eq!(lacks.lines(), lines);
    }
}
