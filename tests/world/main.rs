//! Many objects and clients: which clients see which object, when objects are compared, and what is sent
//! first.

#[path = "../support/bazaar.rs"]
mod bazaar;
#[path = "../support/counted.rs"]
mod counted;
#[path = "../support/mod.rs"]
mod support;

mod before_compare;
mod budget;
mod dormancy;
mod external;
mod generic_classes;
mod lifecycles;
mod names;
mod not_sent;
mod paused_objects;
mod rates;
mod relevancy;
mod strange_clients;
mod together;
mod turns;
mod work;
