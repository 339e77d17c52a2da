//! A part of a list that is divided into parts of equal size.

use std::str::FromStr;

/// The part `at`, counted from zero, of `count` parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    at: usize,
    count: usize,
}

impl Slice {
    /// Returns the items in this part: every `count`th item, so that each part has faults of each topic.
    pub(crate) fn of<T>(self, items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        items.skip(self.at).step_by(self.count)
    }
}

impl FromStr for Slice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers =
            text.split_once('/').and_then(|(at, count)| Some((at.parse().ok()?, count.parse().ok()?)));
        match numbers {
            Some((at, count)) if (1..=count).contains(&at) => Ok(Self { at: at - 1, count }),
            _ => Err(format!("`{text}` is not a part such as 2/8")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_in_one_part() {
        let part = |text: &str| text.parse::<Slice>().map(|slice| slice.of(0..7).collect::<Vec<_>>());
        assert_eq!(part("1/1"), Ok((0..7).collect()));
        assert_eq!(
            [part("1/3"), part("2/3"), part("3/3")],
            [Ok(vec![0, 3, 6]), Ok(vec![1, 4]), Ok(vec![2, 5])]
        );
        for wrong in ["", "1", "0/3", "4/3", "a/3", "1/b", "-1/3"] {
            assert_eq!(wrong.parse::<Slice>(), Err(format!("`{wrong}` is not a part such as 2/8")));
        }
    }
}
