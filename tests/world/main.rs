//! Many objects and clients: who sees which object, when it is compared, and what goes first.

#[path = "../support/bazaar.rs"]
mod bazaar;
#[path = "../support/counted.rs"]
mod counted;
#[path = "../support/mod.rs"]
mod support;

mod budget;
mod dormancy;
mod external;
mod generic_classes;
mod lifecycles;
mod names;
mod not_sent;
mod rates;
mod relevancy;
mod strange_clients;
mod together;
mod turns;
