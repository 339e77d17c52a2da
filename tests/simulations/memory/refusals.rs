//! Values that the server refuses while their object waits for its update.
//!
//! *Invariant:* the value is refused in each comparison.

use std::time::Duration;

use repl::UpdateRate;
use repl::prelude::*;

use crate::allocator::held;

#[derive(Replicated, Default)]
struct Cart {
    #[replicated(range = 0..=9)]
    load: u8,
    #[replicated]
    miles: u32,
}

#[test]
fn a_value_that_is_refused_again_and_again_takes_no_more_memory() {
    let mut server = Server::new(ServerConfig::default());
    let rate = UpdateRate::every(Duration::from_secs(3_600));
    server.register_external::<Cart>().class::<Cart>().set_update_rate(rate);
    let mut cart = Cart::default();
    let object = server.external().spawn(&cart);
    server.tick(Duration::ZERO);
    cart.load = 200;
    let mut compare = |count: u32| {
        for miles in 0..count {
            cart.miles = miles;
            server.external().compare(object, &cart).expect("it exists");
        }
        held()
    };
    let few = compare(10);
    assert_eq!(compare(10_000), few);
    let refused = |event: ServerEvent| matches!(event, ServerEvent::ValueRefused { property: "load", .. });
    server.tick(Duration::from_secs(7_200));
    assert_eq!(std::iter::from_fn(|| server.poll_event()).filter(|event| refused(event.clone())).count(), 1);
}
