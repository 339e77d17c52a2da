//! How much memory a connection to a large world needs, depending on how much of the world it sees.
//!
//! *Invariant:* the memory of a connection depends on the objects that it sees, not on the size of the world.

use crate::wanderers::{Seen, State, per_connection};

/// Asserts that a connection occupies at most `limits` bytes: when everything that it sees is acknowledged,
/// after a walk, and when the changes of one object in a hundred are not acknowledged.
fn assert_at_most(objects: usize, seen: Seen, limits: [f64; 3]) {
    for (state, limit) in [State::Joined, State::Walked, State::OutOfStep].into_iter().zip(limits) {
        let bytes = per_connection(objects, seen, state);
        assert!(bytes > 0.0 && bytes <= limit, "{seen:?}, {state:?}: {bytes:.0} B of at most {limit} B");
    }
}

#[test]
fn a_connection_that_sees_what_is_near_takes_little_in_a_small_world_and_a_large_one() {
    assert_at_most(1_000, Seen::Near, [10_420.0, 11_480.0, 10_930.0]);
    assert_at_most(10_000, Seen::Near, [12_100.0, 15_940.0, 12_990.0]);
}

#[test]
fn a_connection_that_sees_few_objects_takes_a_bit_for_each_object_of_the_world() {
    assert_at_most(1_000, Seen::Few, [4_740.0, 4_740.0, 5_020.0]);
    assert_at_most(10_000, Seen::Few, [5_430.0, 5_430.0, 6_140.0]);
}

#[test]
fn a_connection_that_sees_all_objects_takes_little_for_those_that_are_acknowledged() {
    assert_at_most(1_000, Seen::All, [4_040.0, 4_040.0, 4_410.0]);
    assert_at_most(10_000, Seen::All, [5_580.0, 5_580.0, 6_270.0]);
}
