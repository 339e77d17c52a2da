//! Spelling: finds the correct name for a misspelt one.
//!
//! *Invariant:* names that differ only in style, such as `OwnerOnly` and `owner_only`, count as the same
//! name.

/// Returns the name in `names` that the user probably meant by `wrong`.
pub(crate) fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = plain(wrong);
    let limit = wrong.len().div_ceil(3).max(1);
    names
        .into_iter()
        .map(|name| (distance(&wrong, &plain(name)), name))
        .filter(|&(d, _)| d <= limit)
        .min()
        .map(|(_, name)| name)
}

/// Returns whether two names differ at most in style, like `OwnerOnly` and `owner_only`.
pub(crate) fn is_same_spelling(a: &str, b: &str) -> bool {
    plain(a) == plain(b)
}

/// Returns a name in lower case and without underscores, to compare names without their style.
fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|&c| c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns the edit distance of two names: how many characters must be inserted, removed, replaced, or
/// exchanged with their neighbour to turn `a` into `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_finds_slips_and_other_styles_but_not_other_words() {
        let names = ["condition", "notify", "notify_always", "skip"];
        assert_eq!(nearest("conditon", names), Some("condition"));
        assert_eq!(nearest("notfiy", names), Some("notify"));
        assert_eq!(nearest("NotifyAlways", names), Some("notify_always"));
        assert_eq!(nearest("serialize", names), None);
        assert_eq!(nearest("", names), None);
    }
}
