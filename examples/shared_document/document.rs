//! The document: a text in one of two forms.
//!
//! *Invariant:* one of the two forms is always empty.

use repl::prelude::*;

use crate::trace::Patch;

/// The replicated object.
#[derive(Debug, Default, Replicated)]
pub(crate) struct Document {
    /// Each character is an item. A keystroke costs the server O(log n).
    #[replicated]
    characters: OrderedFastArray<char>,
    /// The text is compared as a whole, and sent as the difference to the text that a client has.
    #[replicated(delta, max_len = 1 << 20)]
    plain: String,
}

impl Document {
    pub(crate) fn new(text: &str, is_plain: bool) -> Self {
        match is_plain {
            true => Self { plain: text.to_owned(), ..Self::default() },
            false => Self { characters: text.chars().collect(), ..Self::default() },
        }
    }

    /// Returns the number of characters.
    pub(crate) fn len(&self) -> usize {
        self.chars().count()
    }

    pub(crate) fn chars(&self) -> impl Iterator<Item = char> {
        self.characters.iter().copied().chain(self.plain.chars())
    }

    /// Applies a patch of the recording.
    pub(crate) fn apply(&mut self, Patch { position, deleted, inserted }: &Patch, is_plain: bool) {
        let (start, end) = (*position, position + deleted);
        if is_plain {
            let byte =
                |at: usize| self.plain.char_indices().nth(at).map_or(self.plain.len(), |(byte, _)| byte);
            self.plain.replace_range(byte(start)..byte(end), inserted);
        } else {
            self.characters.drain(start..end);
            for (position, character) in (start..).zip(inserted.chars()) {
                self.characters.insert(position, character);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_count_code_points() {
        let patches = [(1, 1, "☃"), (2, 0, "y")].map(|(position, deleted, inserted)| Patch {
            position,
            deleted,
            inserted: inserted.to_owned(),
        });
        for is_plain in [false, true] {
            let mut document = Document::new("aéz", is_plain);
            patches.iter().for_each(|patch| document.apply(patch, is_plain));
            assert_eq!((document.chars().collect::<String>().as_str(), document.len()), ("a☃yz", 4));
        }
    }
}
