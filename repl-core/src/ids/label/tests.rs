use super::*;
use crate::bits::{BitReader, BitWriter, ReadError};
use proptest::prelude::*;

fn label(digits: &[u8]) -> Label {
    Label::new(digits)
}

fn any_label() -> impl Strategy<Value = Label> {
    let digit = prop_oneof![3 => any::<u8>(), 1 => Just(0), 1 => Just(255), 1 => Just(1)];
    prop::collection::vec(digit, 0..=MAX).prop_map(|mut digits| {
        if let Some(last) = digits.last_mut() {
            *last = (*last).max(1);
        }
        label(&digits)
    })
}

/// Generates a label, and another label that equals the first one up to some digit.
fn two_labels() -> impl Strategy<Value = (Label, Label)> {
    (any_label(), any_label(), 0..=MAX, 0..4_u8).prop_map(|(a, b, shared, how)| match how {
        0 => (a.clone(), a.successor().unwrap_or(a)),
        1 => (a.clone(), a.predecessor().unwrap_or(a)),
        _ => {
            let shared = shared.min(a.as_bytes().len());
            let b = label(&[&a.as_bytes()[..shared], b.as_bytes()].concat());
            (a, b)
        }
    })
}

const FORWARD: Hint = Hint { lean: Lean::Before, run: 0 };

fn any_hint() -> impl Strategy<Value = Hint> {
    let lean = prop_oneof![Just(Lean::Before), Just(Lean::After), Just(Lean::Neither)];
    (lean, prop_oneof![0..10_u32, any::<u32>()]).prop_map(|(lean, run)| Hint { lean, run })
}

fn is_canonical(label: &Label) -> bool {
    label.as_bytes().len() <= MAX && label.as_bytes().last().is_some_and(|&last| last != 0)
}

fn is_between(label: &Label, before: Option<&Label>, after: Option<&Label>) -> bool {
    before.is_none_or(|before| before < label) && after.is_none_or(|after| label < after)
}

proptest! {
    #[test]
    fn r13_a_label_between_two_is_between_them(
        (a, b) in two_labels(), hint in any_hint(), open in 0..4_u8, count in 1..2000_usize, hot in any::<(usize, usize)>()
    ) {
        let (low, high) = (a.clone().min(b.clone()), a.max(b));
        let before = (open != 0 && !low.as_bytes().is_empty()).then_some(&low);
        let after = (open != 1 && !high.as_bytes().is_empty()).then_some(&high);
        match Label::between(before, after, hint) {
            Some(found) => prop_assert!(is_canonical(&found) && is_between(&found, before, after)),
            // Two labels have no label between them only if they are equal, or if one of them has the
            // greatest number of digits.
            None => prop_assert!(low == high || low.as_bytes().len().max(high.as_bytes().len()) == MAX),
        }
        let hot = (hot.0 % (count + 1), hot.1 % (count + 1));
        let hot = hot.0.min(hot.1)..hot.0.max(hot.1);
        let run: Option<Vec<Label>> = Label::run(before, after, count, hint).map(Iterator::collect);
        let spread: Option<Vec<Label>> = Label::spread(before, after, count, hot, MAX).map(Iterator::collect);
        for labels in [run, spread].into_iter().flatten() {
            prop_assert_eq!(labels.len(), count);
            prop_assert!(labels.iter().all(|label| is_canonical(label) && is_between(label, before, after)));
            prop_assert!(labels.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn r13_a_written_label_is_read((previous, label) in two_labels(), garbage in any::<u8>()) {
        prop_assume!(!label.as_bytes().is_empty());
        let mut writer = BitWriter::new();
        label.write(&previous, &mut writer);
        let bits = writer.bit_len();
        writer.write_bits(garbage.into(), 8);
        let bytes = writer.into_bytes();
        let mut reader = BitReader::new(&bytes);
        prop_assert_eq!(Label::read(&previous, &mut reader), Ok(label));
        prop_assert_eq!(reader.position(), bits);
    }

    #[test]
    fn r13_any_bits_are_a_label_in_its_one_form_or_an_error(
        previous in any_label(), bytes in prop::collection::vec(any::<u8>(), 0..50)
    ) {
        let mut reader = BitReader::new(&bytes);
        if let Ok(label) = Label::read(&previous, &mut reader) {
            prop_assert!(is_canonical(&label));
            let mut writer = BitWriter::new();
            label.write(&previous, &mut writer);
            prop_assert_eq!(writer.bit_len(), reader.position());
            prop_assert_eq!(Some(writer.as_slice()), reader.slice(0..reader.position()));
        }
    }

    #[test]
    fn successor_and_predecessor_undo_each_other(label in any_label()) {
        if let Some(next) = label.successor() {
            prop_assert!(label < next && next.as_bytes().len() == label.as_bytes().len());
            prop_assert_eq!(next.predecessor(), Some(label.clone()));
        }
        if let Some(last) = label.predecessor() {
            prop_assert!(last < label && last.as_bytes().len() == label.as_bytes().len());
            prop_assert_eq!(last.successor(), Some(label));
        }
    }

    #[test]
    fn labels_are_ordered_as_their_digits((a, b) in two_labels()) {
        prop_assert_eq!(a.cmp(&b), a.as_bytes().to_vec().cmp(&b.as_bytes().to_vec()));
        prop_assert_eq!(a == b, a.as_bytes() == b.as_bytes());
    }
}

#[test]
fn a_run_steps_over_numbers_that_end_in_zero() {
    assert_eq!(label(&[7, 255]).successor(), Some(label(&[8, 1])));
    assert_eq!(label(&[8, 1]).predecessor(), Some(label(&[7, 255])));
    assert_eq!(label(&[255, 255]).successor(), None);
    assert_eq!(label(&[0, 1]).predecessor(), None);
    assert_eq!((Label::START.successor(), Label::START.predecessor()), (None, None));
    let labels: Vec<Label> = Label::run(Some(&label(&[7, 254])), None, 2, FORWARD).unwrap().collect();
    assert_eq!(labels, [label(&[8]), label(&[9])], "no more digits than it takes");
    let (before, after) = (label(&[7, 254]), label(&[8, 64]));
    let labels: Vec<Label> = Label::run(Some(&before), Some(&after), 3, FORWARD).unwrap().collect();
    assert_eq!(labels, [label(&[7, 255]), label(&[8, 1]), label(&[8, 2])]);
}

/// Inserts `count` items, each after the last inserted item if `forward` is set, and otherwise before it.
/// Returns the length of the longest label and the bits of all labels, each written relative to the previous
/// label.
fn typed(count: u32, forward: bool) -> (usize, usize) {
    let (mut low, mut high) = (Some(label(&[9])), Some(label(&[10])));
    let (mut longest, mut writer, mut previous) = (0, BitWriter::new(), Label::START);
    for run in 0..count {
        let hint = Hint { lean: if forward { Lean::Before } else { Lean::After }, run };
        let new = Label::between(low.as_ref(), high.as_ref(), hint).unwrap();
        longest = longest.max(new.as_bytes().len());
        new.write(&previous, &mut writer);
        previous = new.clone();
        if forward { low = Some(new) } else { high = Some(new) }
    }
    (longest, writer.bit_len())
}

#[test]
fn r13_a_run_takes_a_bit_forward_and_two_backward() {
    for (forward, bits) in [(true, 1), (false, 2)] {
        let (longest, written) = typed(10_000, forward);
        assert!(longest <= 4, "{longest} digits");
        assert!(written <= 10_000 * bits + 100, "{written} bits");
    }
}

#[test]
fn r13_a_gap_is_used_up_only_after_hundreds_of_insertions_at_the_worst_places() {
    let (mut low, mut high) = (None, None);
    let mut count = 0;
    while let Some(new) = Label::between(low.as_ref(), high.as_ref(), Hint::NONE) {
        count += 1;
        if count % 2 == 0 { low = Some(new) } else { high = Some(new) }
    }
    assert!(count >= 200, "{count} insertions");
}

#[test]
fn labels_that_are_spread_are_short_and_leave_room() {
    let labels: Vec<Label> = Label::spread(None, None, 100_000, 0..100_000, MAX).unwrap().collect();
    assert!(labels.iter().all(|label| label.as_bytes().len() <= 3));
    assert!(labels.windows(2).all(|pair| {
        let between = Label::between(Some(&pair[0]), Some(&pair[1]), Hint::NONE);
        between.is_some_and(|label| label.as_bytes().len() <= 3)
    }));
    assert!(Label::spread(None, None, 100_000, 0..1, 2).is_none(), "they take three digits");
    let labels: Vec<Label> = Label::run(None, None, 100_000, Hint::NONE).unwrap().collect();
    assert!(labels.iter().all(|label| label.as_bytes().len() == 3));
}

#[test]
fn labels_that_are_spread_leave_most_room_where_it_was_used_up() {
    let labels: Vec<Label> = Label::spread(None, None, 64, 32..33, MAX).unwrap().collect();
    let value = |at: usize| {
        let digits = labels[at].as_bytes().iter().chain(&[0; 2]).take(2);
        digits.fold(0_i32, |value, &digit| value * 256 + i32::from(digit))
    };
    let gaps: Vec<i32> = (1..64).map(|at| value(at) - value(at - 1)).collect();
    assert!(gaps[..32].is_sorted() && gaps[31..].is_sorted_by(|a, b| a >= b), "{gaps:?}");
    assert!(gaps[31] + gaps[32] >= 65_536 / 8, "{gaps:?}");
}

#[test]
fn r13_labels_that_are_none_are_refused() {
    let previous = label(&[5, 6]);
    let read = |write: &dyn Fn(&mut BitWriter)| {
        let mut writer = BitWriter::new();
        writer.write_bits(0, 2);
        write(&mut writer);
        Label::read(&previous, &mut BitReader::new(&writer.into_bytes()))
    };
    let form = |going: u64, coming: &'static [u8]| {
        move |writer: &mut BitWriter| {
            writer.write_exp_golomb(going, 1);
            writer.write_exp_golomb(coming.len() as u64, 1);
            coming.iter().for_each(|&digit| writer.write_bits(digit.into(), 8));
        }
    };
    assert_eq!(read(&form(1, &[9])), Ok(label(&[5, 9])));
    assert_eq!(read(&form(0, &[])), Ok(label(&[5, 6])));
    assert_eq!(read(&form(3, &[9])), Err(ReadError::OutOfRange), "more go than there are");
    assert_eq!(read(&form(2, &[])), Err(ReadError::OutOfRange), "no digits");
    assert_eq!(read(&form(1, &[9, 0])), Err(ReadError::OutOfRange), "a zero at the end");
    assert_eq!(read(&form(1, &[6, 1])), Err(ReadError::OutOfRange), "what goes comes again");
    assert_eq!(read(&form(1, &[7])), Err(ReadError::OutOfRange), "a bit would do");
    assert_eq!(read(&form(1, &[5])), Err(ReadError::OutOfRange), "two bits would do");
    assert_eq!(read(&form(0, &[1; 31])), Err(ReadError::TooLong { len: 33, max: 32 }));
    let claim = |writer: &mut BitWriter| {
        writer.write_exp_golomb(0, 1);
        writer.write_exp_golomb(u64::MAX, 1);
    };
    assert!(matches!(read(&claim), Err(ReadError::TooLong { .. })));
    assert_eq!(Label::read(&Label::START, &mut BitReader::new(&[1])), Err(ReadError::OutOfRange));
    assert_eq!(Label::read(&label(&[1]), &mut BitReader::new(&[2])), Err(ReadError::OutOfRange));
}
