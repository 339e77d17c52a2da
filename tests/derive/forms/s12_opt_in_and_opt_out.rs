//! An object replicates only the marked fields, or with `all` every field except fields with `skip`. A value
//! replicates every field except fields with `skip` (S12).

use repl::{NetSerialize, Replicated};

use crate::round_trip;

#[derive(Replicated, Default)]
struct OptIn {
    #[replicated]
    sent: u8,
    kept: u8,
    #[replicated(skip)]
    skipped: std::marker::PhantomData<std::time::Instant>,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct OptOut {
    sent: u8,
    #[replicated()]
    marked: u8,
    #[replicated(skip)]
    kept: u8,
}

#[derive(NetSerialize, Clone, Default)]
struct Value {
    sent: u8,
    #[replicated]
    marked: u8,
    #[replicated(skip)]
    kept: u8,
}

#[test]
fn s12_only_marked_fields_are_sent_or_all_but_skipped_ones() {
    let one = round_trip(&OptIn { sent: 1, kept: 2, skipped: std::marker::PhantomData });
    let two = round_trip(&OptOut { sent: 1, marked: 2, kept: 3 });
    let three = round_trip(&Value { sent: 1, marked: 2, kept: 3 });
    assert_eq!((one.sent, one.kept, one.skipped), (1, 0, std::marker::PhantomData));
    assert_eq!((two.sent, two.marked, two.kept), (1, 2, 0));
    assert_eq!((three.sent, three.marked, three.kept), (1, 2, 0));
    assert_eq!((OptIn::LAYOUT.properties(), OptOut::LAYOUT.properties()), (1, 2));
}
