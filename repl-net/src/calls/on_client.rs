//! Calls on a client: registering, calling, polling and running.
//!
//! *Invariant:* a call runs only while its object exists on this client.

use std::time::Duration;

use repl_core::ObjectRef;

use super::call::{CallSide, ReceivedCall};
use super::channels;
use super::error::CallError;
use super::inbox::{self, CallInbox, WaitLimits};
use super::invocation::Invocation;
use super::rpcs::{CallMaker, CallSender, Rpcs};
use super::table::CallKind;
use crate::client::Client;

impl Client {
    /// Registers a class and its calls. Register the same calls as on the server.
    ///
    /// # Panics
    /// Panics after the first [`tick`](Self::tick), or if the calls of the class are registered already.
    #[track_caller]
    pub fn register_calls<T: Rpcs>(&mut self) -> &mut Self {
        self.register::<T>();
        channels::register::<(), T>(&mut self.session.mailbox);
        self.runners.push(Self::run_calls::<T>);
        self
    }

    /// Returns the caller of an object, which has one method for each call of the class.
    ///
    /// - A `server` call is sent to the server, if this client owns the object.
    /// - A `client` or `multicast` call runs only on this client, in the next [`tick`](Self::tick).
    ///
    /// Reliable calls of one object arrive in the order in which they were made. A call has no effect if this
    /// client no longer owns the object when the call arrives.
    ///
    /// # Panics
    /// Panics if the calls of the class are not [registered](Self::register_calls).
    #[track_caller]
    pub fn call<T: Rpcs>(&mut self, object: ObjectRef<T>) -> T::Caller<'_> {
        channels::assert_registered::<(), T>(&self.session.mailbox);
        T::caller(CallSender::new(CallMaker::Client(self), object))
    }

    /// Queues a call for the side that will run it.
    pub(super) fn send_call<T: Rpcs>(
        &mut self,
        object: ObjectRef<T>,
        call: T::Call,
    ) -> Result<(), CallError> {
        if self.get(object).is_none() {
            return Err(CallError::Gone);
        }
        let Some(entry) = T::CALLS.entry(T::number(&call)) else { return Ok(()) };
        if entry.kind != CallKind::Server {
            if let Some(inbox) = self.call_inbox::<T>(entry.is_reliable) {
                inbox.push_own(object, call);
            }
            return Ok(());
        }
        if !self.is_connected() {
            return Err(CallError::NotConnected);
        }
        if !self.object_info(object).is_owner() {
            return Err(CallError::NotOwner);
        }
        let channel = self.session.mailbox.channel(channels::key::<T>(entry.is_reliable));
        let channel = channel.ok_or(CallError::NotConnected)?;
        let kind = T::number(&call);
        Ok(self.session.send_bits((channel, kind), |writer| inbox::write(object, &call, writer))?)
    }

    fn call_inbox<T: Rpcs>(&mut self, is_reliable: bool) -> Option<&mut CallInbox<(), T>> {
        self.session.mailbox.inbox_mut(channels::key::<T>(is_reliable))
    }

    /// Returns the next call of a class that this client may run. Returns `None` if there are no more calls.
    /// The next [`tick`](Self::tick) runs the calls that were not polled, except calls without a body, which
    /// wait until they are polled. If a call is polled, its body runs only if the program passes the call to
    /// [`run_call`](Self::run_call).
    ///
    /// # Panics
    /// Panics if the calls of the class are not [registered](Self::register_calls).
    #[track_caller]
    pub fn poll_call<T: Rpcs>(&mut self) -> Option<ReceivedCall<T, T::Call>> {
        channels::assert_registered::<(), T>(&self.session.mailbox);
        for is_reliable in [true, false] {
            while let Some(received) = self.call_inbox::<T>(is_reliable)?.pop() {
                if self.get(received.object).is_some() {
                    return Some(received);
                }
            }
        }
        None
    }

    /// Runs the body of a call that was [polled](Self::poll_call). Does nothing if the object of the call no
    /// longer exists. If the call has no body, returns the call, and the program must handle it.
    #[must_use = "a call without a body is returned"]
    pub fn run_call<T: Rpcs>(
        &mut self,
        received: ReceivedCall<T, T::Call>,
    ) -> Option<ReceivedCall<T, T::Call>> {
        if T::CALLS.entry(T::number(&received.call)).is_none_or(|entry| entry.is_polled) {
            return Some(received);
        }
        let ReceivedCall { object, call, .. } = received;
        if self.get(object).is_some() {
            T::run(Invocation::new(CallSide::Client(self), object, None), call);
        }
        None
    }

    /// Runs the calls of a class that were not polled. A call that is made by a running function runs in the
    /// next tick, so two functions that call each other do not loop forever.
    fn run_calls<T: Rpcs>(&mut self, now: Duration) {
        for is_reliable in [true, false] {
            let (replicas, longest) = (&self.replicas, self.config.max_call_wait);
            // Without a session no object can arrive.
            let is_connected = self.is_connected();
            let may_come = |guid| is_connected && replicas.may_come(guid);
            let objects = replicas.objects();
            let limits = WaitLimits { objects, may_come: &may_come, longest, now };
            let key = channels::key::<T>(is_reliable);
            let Some(inbox) = self.session.mailbox.inbox_mut::<CallInbox<(), T>>(key) else { continue };
            inbox.end_waits((), limits);
            inbox.begin_run();
            while let Some(queued) = self.call_inbox::<T>(is_reliable).and_then(CallInbox::next_to_run) {
                let entry = T::CALLS.entry(T::number(&queued.call));
                if entry.is_some_and(|entry| entry.is_polled) {
                    if let Some(inbox) = self.call_inbox::<T>(is_reliable) {
                        inbox.keep(queued);
                    }
                } else if self.get(queued.object).is_some() {
                    T::run(Invocation::new(CallSide::Client(self), queued.object, None), queued.call);
                }
            }
            self.call_inbox::<T>(is_reliable).map(CallInbox::end_run);
        }
    }
}
