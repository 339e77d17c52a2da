//! Calls that the host makes and receives: calling, polling and running. The host is a player in the process
//! of the server.
//!
//! *Invariant:* a call of the host reaches the server in the same way as a call of a client, and the same
//! code checks it.

use std::time::Duration;

use repl_core::ObjectRef;
use repl_link::parts::Mailbox;

use super::call::{CallSide, ReceivedCall};
use super::channels;
use super::error::CallError;
use super::inbox::{self, CallInbox, Queued, WaitLimits};
use super::invocation::Invocation;
use super::rpcs::{CallMaker, CallSender, Rpcs};
use super::table::{CallEntry, CallKind};
use crate::server::{HostHandle, Server};

type Inbox<T> = CallInbox<(), T>;

impl HostHandle<'_> {
    /// Returns the caller of an object, which has one method for each call of the class. The methods do the
    /// same as on a [client](crate::Client::call):
    ///
    /// - A `server` call reaches the server, if the host owns the object, and runs in the next
    ///   [`tick`](Server::tick) after the same checks as a call of a client.
    /// - A `client` or `multicast` call runs only for the host, in the next `tick`.
    ///
    /// # Panics
    /// Panics if the calls of the class are not [registered](Server::register_calls).
    #[track_caller]
    pub fn call<T: Rpcs>(&mut self, object: ObjectRef<T>) -> T::Caller<'_> {
        channels::assert_registered::<_, T>(&self.server.sessions.mailbox);
        T::caller(CallSender::new(CallMaker::Host(self.server), object))
    }

    /// Returns the next call of a class to the host. Returns `None` if there are no more calls. Calls whose
    /// objects no longer exist are skipped. A `multicast` call of the server is returned only if it has no
    /// body, because a body runs once for server and host together. The next [`tick`](Server::tick) runs the
    /// calls that were not polled. Two kinds of calls wait until they are polled: calls without a body, and
    /// calls with a [`ClientCall`](crate::ClientCall), because the host is not a client. If a call is polled,
    /// its body runs only if the program passes the call to [`run_call`](Self::run_call).
    ///
    /// # Panics
    /// Panics if the calls of the class are not [registered](Server::register_calls).
    #[track_caller]
    pub fn poll_call<T: Rpcs>(&mut self) -> Option<ReceivedCall<T, T::Call>> {
        channels::assert_registered::<_, T>(&self.server.sessions.mailbox);
        for is_reliable in [true, false] {
            while let Some(queued) = self.server.host_inbox::<T>(is_reliable).and_then(Inbox::pop_queued) {
                if self.server.is_for_host(&queued) {
                    let Queued { object, call, .. } = queued;
                    return Some(ReceivedCall { object, caller: None, call });
                }
            }
        }
        None
    }

    /// Runs the body of a call that was [polled](Self::poll_call). Does nothing if the object of the call no
    /// longer exists. Returns the call if the program must handle it, because the call has no body, its body
    /// needs a [`ClientCall`](crate::ClientCall), or its object is [outside of the
    /// server](Server::register_external).
    #[must_use = "a call without a body is returned"]
    pub fn run_call<T: Rpcs>(
        &mut self,
        received: ReceivedCall<T, T::Call>,
    ) -> Option<ReceivedCall<T, T::Call>> {
        if !self.server.can_run_for_host::<T>(T::CALLS.entry(T::number(&received.call))) {
            return Some(received);
        }
        let ReceivedCall { object, call, .. } = received;
        if self.server.guid_of(object).is_some() {
            T::run(Invocation::new(CallSide::Server(self.server), object, None), call);
        }
        None
    }
}

impl Server {
    /// Queues a call that the host makes for the side that will run it.
    pub(super) fn send_call_of_host<T: Rpcs>(
        &mut self,
        object: ObjectRef<T>,
        call: T::Call,
    ) -> Result<(), CallError> {
        if self.guid_of(object).is_none() {
            return Err(CallError::Gone);
        }
        let Some(entry) = T::CALLS.entry(T::number(&call)) else { return Ok(()) };
        if entry.kind != CallKind::Server {
            let Some((mailbox, _)) = self.host_mail() else { return Err(CallError::NotConnected) };
            if mailbox.channel(channels::key::<T>(entry.is_reliable)).is_none() {
                channels::register::<(), T>(mailbox);
            }
            if let Some(inbox) = self.host_inbox::<T>(entry.is_reliable) {
                inbox.push_own(object, call);
            }
            return Ok(());
        }
        if !self.is_owned_by_host(object) {
            return Err(CallError::NotOwner);
        }
        let channel = self.sessions.mailbox.channel(channels::key::<T>(entry.is_reliable));
        let place = (channel.ok_or(CallError::NotConnected)?, T::number(&call));
        Ok(self.send_from_host(place, |writer| inbox::write(object, &call, writer))?)
    }

    /// Queues a call that the server makes for the host.
    pub(super) fn send_call_to_host<T: Rpcs>(
        &mut self,
        object: ObjectRef<T>,
        call: &T::Call,
        entry: &CallEntry,
    ) -> Result<(), CallError> {
        let register = |mailbox: &mut Mailbox<()>, _| channels::register::<(), T>(mailbox);
        let key = channels::key::<T>(entry.is_reliable);
        Ok(self.send_to_host(key, register, |writer| inbox::write(object, call, writer))?)
    }

    fn host_inbox<T: Rpcs>(&mut self, is_reliable: bool) -> Option<&mut Inbox<T>> {
        self.host_mail()?.0.inbox_mut(channels::key::<T>(is_reliable))
    }

    pub(super) fn can_run_for_host<T: Rpcs>(&self, entry: Option<&CallEntry>) -> bool {
        !self.is_external::<T>() && entry.is_some_and(|entry| !entry.is_polled && !entry.needs_client)
    }

    /// Returns whether a call in the inbox of the host may run. Its object must still exist. If the server
    /// made the call for the owner of the object, the host must still be the owner.
    fn is_for_host<T: Rpcs>(&self, queued: &Queued<(), T>) -> bool {
        let entry = T::CALLS.entry(T::number(&queued.call));
        let is_for_owner = queued.from.is_some() && entry.is_some_and(|entry| entry.kind == CallKind::Client);
        self.guid_of(queued.object).is_some() && (!is_for_owner || self.is_owned_by_host(queued.object))
    }

    /// Runs the calls to the host that were not polled. A call that is made by a running function runs in the
    /// next tick.
    pub(super) fn run_calls_for_host<T: Rpcs>(&mut self, now: Duration) {
        for is_reliable in [true, false] {
            let Some((mailbox, objects)) = self.host_mail() else { return };
            let key = channels::key::<T>(is_reliable);
            let Some(inbox) = mailbox.inbox_mut::<Inbox<T>>(key) else { continue };
            // The host sees the objects of the server itself, so no object can still arrive and no call
            // waits.
            let limits = WaitLimits { objects, may_come: &|_| false, longest: Duration::ZERO, now };
            inbox.end_waits((), limits);
            inbox.begin_run();
            while let Some(queued) = self.host_inbox::<T>(is_reliable).and_then(Inbox::next_to_run) {
                if !self.can_run_for_host::<T>(T::CALLS.entry(T::number(&queued.call))) {
                    if let Some(inbox) = self.host_inbox::<T>(is_reliable) {
                        inbox.keep(queued);
                    }
                } else if self.is_for_host(&queued) {
                    T::run(Invocation::new(CallSide::Server(self), queued.object, None), queued.call);
                }
            }
            self.host_inbox::<T>(is_reliable).map(Inbox::end_run);
        }
    }
}
