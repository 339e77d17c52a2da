//! Remote calls: functions of an object that one side calls and the other side runs.
//!
//! `#[rpcs]` implements [`Rpcs`](rpcs::Rpcs) for a class. It generates an enum of the calls, a
//! [`CallTable`](table::CallTable), and the code that runs the calls. On the wire, a call is a message that
//! contains the object and a value of that enum. Each class has two message channels: one for its reliable
//! calls and one for its unreliable calls. The module [`rpcs`] queues calls, [`inbox`] stores calls that have
//! arrived, and [`on_server`] and [`on_client`] run them.
//!
//! *Invariant:* a call runs only while its object exists. On a server, a call from a client runs only if the
//! client owns the object.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub(crate) mod call;
mod channels;
pub(crate) mod debug;
mod display;
pub(crate) mod error;
mod inbox;
pub(crate) mod invocation;
mod on_client;
mod on_host;
mod on_server;
pub(crate) mod rpcs;
pub(crate) mod table;
#[cfg(test)]
mod tests;
