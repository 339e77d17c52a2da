//! The classes of one side as the handshake compares them: names and checksums, by name (R21).
//!
//! Invariant: both sides number classes by the order of their names, so equal lists mean equal numbers.

use repl_core::{Checksum, Layout, Replicated};

/// Names and checksums of all classes, ascending by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassList {
    entries: Vec<(String, u64)>,
    /// By the number a class has on this side, its number on the wire.
    wire: Vec<u32>,
}

/// The first layout that differs between a client and its server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutMismatch {
    /// Both have the class, with different layouts: one of them is an older build. Only checksums are compared, so what differs in the class is not
    /// known here: print its `LAYOUT` in both builds and compare the tables.
    #[error("class `{name}` has another layout on the server")]
    Different {
        /// The class.
        name: String,
    },
    /// Only the server has the class: register it on the client.
    #[error("the client has no class `{name}`")]
    OnlyServer {
        /// The class.
        name: String,
    },
    /// Only the client has the class: register it on the server.
    #[error("the server has no class `{name}`")]
    OnlyClient {
        /// The class.
        name: String,
    },
}

impl ClassList {
    /// The list of classes in the order of their registration.
    pub(crate) fn new(classes: impl Iterator<Item = (&'static str, u64)>) -> Self {
        let mut entries: Vec<_> = classes.map(|(name, sum)| (name.to_owned(), sum)).zip(0_usize..).collect();
        entries.sort();
        let mut wire = vec![0; entries.len()];
        for ((_, registered), at) in entries.iter().zip(0..) {
            wire[*registered] = at;
        }
        Self { entries: entries.into_iter().map(|(entry, _)| entry).collect(), wire }
    }

    /// A list as the peer sent it, which need not be sorted.
    pub(crate) fn received(mut entries: Vec<(String, u64)>) -> Self {
        entries.sort();
        Self { entries, wire: Vec::new() }
    }

    pub(crate) fn entries(&self) -> &[(String, u64)] {
        &self.entries
    }

    pub(crate) fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    /// The number on the wire of the class registered as number `class`.
    pub(crate) fn wire(&self, class: usize) -> u32 {
        self.wire.get(class).copied().unwrap_or(0)
    }

    /// The class registered here that has this number on the wire.
    pub(crate) fn registered(&self, wire: u32) -> Option<usize> {
        self.wire.iter().position(|&number| number == wire)
    }

    /// Covers all names and checksums.
    pub(crate) fn checksum(&self) -> u64 {
        self.entries
            .iter()
            .fold(Checksum::new(), |sum, (name, layout)| sum.text(name).number(*layout))
            .finish()
    }

    /// The first class, by name, in which the server's list, this one, and a client's differ.
    pub(crate) fn first_mismatch(&self, client: &Self) -> Option<LayoutMismatch> {
        let (mut ours, mut theirs) = (self.entries.iter().peekable(), client.entries.iter().peekable());
        loop {
            match (ours.peek(), theirs.peek()) {
                (Some(a), Some(b)) if a.0 == b.0 => {
                    if a.1 != b.1 {
                        return Some(LayoutMismatch::Different { name: a.0.clone() });
                    }
                    ours.next();
                    theirs.next();
                }
                (Some(a), b) if b.is_none_or(|b| a.0 < b.0) => {
                    return Some(LayoutMismatch::OnlyServer { name: a.0.clone() });
                }
                (_, Some(b)) => return Some(LayoutMismatch::OnlyClient { name: b.0.clone() }),
                (_, None) => return None,
            }
        }
    }
}

/// Asserts that no other class has the name of `T` on the wire: updates would be taken for the other's.
///
/// # Panics
/// If one of `known` has.
#[track_caller]
pub(crate) fn assert_sole_name<T: Replicated>(mut known: impl Iterator<Item = &'static Layout>) {
    let layout = T::LAYOUT.table();
    let namesake = known.find(|known| known.name() == layout.name());
    if let Some(namesake) = namesake {
        panic!(
            "`{}` and `{}` are both called `{}` on the wire: give one of them another name with `#[replicated(name = \"…\")]`",
            namesake.rust_name(),
            layout.rust_name(),
            layout.name(),
        );
    }
}
