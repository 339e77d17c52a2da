//! Generic values, nested in one another and in an object.

use repl::{NetSerialize, Replicated};

use crate::round_trip;

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Pair<A, B> {
    first: A,
    second: B,
    #[replicated(skip)]
    cached: Option<(A, B)>,
}

#[derive(NetSerialize, Clone, Debug, PartialEq)]
enum Tree<T, const N: usize> {
    Leaf(T),
    Row([T; N]),
    Many { pairs: Vec<Pair<T, Option<T>>> },
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Nested<T: Clone> {
    one: Pair<Pair<T, u8>, Vec<T>>,
    inner: Inner<Option<Pair<T, T>>>,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Inner<T> {
    values: Vec<T>,
    plain: u32,
}

#[test]
fn these_forms_are_accepted() {
    let tree = Tree::<u16, 3>::Many { pairs: vec![Pair { first: 1, second: Some(2), cached: None }] };
    assert_eq!(round_trip(&tree), tree);
    assert_eq!(round_trip(&Tree::<u16, 3>::Row([1, 2, 3])), Tree::Row([1, 2, 3]));
    assert!(!tree.identical(&Tree::Leaf(1)));

    let mut nested = Nested::<u8>::default();
    nested.one.first.first = 3;
    nested.inner.values = vec![None, Some(Pair { first: 1, second: 2, cached: Some((9, 9)) })];
    nested.inner.plain = 5;
    let read = round_trip(&nested);
    assert_eq!(read.one, nested.one);
    assert_eq!(read.inner.plain, 5);
    assert_eq!(read.inner.values, [None, Some(Pair { first: 1, second: 2, cached: None })]);
    Nested::<String>::program();
}
