//! Calls on a server: registering, calling, polling and running.
//!
//! *Invariant:* a client's call runs only if, at that time, the client owns the object and the call's
//! validator accepts the call (S213, S221).

use std::time::Duration;

use repl_core::ObjectRef;
use repl_link::ConnectionId;

use super::call::{CallSide, ReceivedCall};
use super::channels;
use super::error::CallError;
use super::inbox::{self, CallInbox, Queued};
use super::invocation::Invocation;
use super::rpcs::{CallMaker, CallSender, Rpcs};
use super::table::CallKind;
use crate::server::Server;

type Inbox<T> = CallInbox<ConnectionId, T>;

impl Server {
    /// Registers a class and its calls. Register the same calls as on the clients.
    ///
    /// # Panics
    /// Panics after the first [`connect`](Self::connect), or if the calls of the class are registered
    /// already. Also panics if a call has a validator and the objects of the class are
    /// [external](crate::External), because the server has no live object that it could pass to the
    /// validator.
    #[track_caller]
    pub fn register_calls<T: Rpcs>(&mut self) -> &mut Self {
        assert!(
            !self.is_registration_over(),
            "the calls of `{}` are new, but a client or a host has connected already: register them before the first one",
            T::CALLS.class(),
        );
        if !self.is_external::<T>() {
            self.register::<T>();
        } else if let Some(call) = T::CALLS.calls().iter().find(|call| call.is_validated) {
            panic!(
                "the call `{}` of `{}` has a validator, but the server has no such objects: validate the call where you poll it",
                call.name,
                T::CALLS.class(),
            );
        }
        channels::register::<ConnectionId, T>(&mut self.sessions.mailbox);
        self.runners.push(Self::run_calls::<T>);
        self
    }

    /// Returns the caller of an object, which has one method for each call of the class.
    ///
    /// - A `server` call runs on this server, in the next [`tick`](Self::tick).
    /// - A `client` call is sent to the client that owns the object.
    /// - A `multicast` call is sent to all clients that have the object or are receiving it. It also runs on
    ///   this server, in the next `tick`. Clients that join later do not receive it.
    ///
    /// A call is sent after the client has acknowledged the object. Therefore the first call on a new object
    /// arrives after at least one and a half round trips. The call is dropped if the object is despawned
    /// before it is sent, or if the client does not receive the object.
    ///
    /// Before the server makes a packet with a call, it checks again whether the client may receive the call.
    /// It also checks this for calls that waited in the queue, and for calls in lost packets. The client must
    /// see the object, by the same [rules](crate::Relevancy) by which it receives the state of the object.
    /// For a `client` call, it must also own the object. Otherwise the call is withdrawn: later packets
    /// contain nothing of its parameters, and later calls do not wait for it. A call that has already arrived
    /// still runs. A despawn withdraws no calls: clients that may receive the object's calls at the time of
    /// the despawn still receive the calls that were sent to them before, even if rules change later. The
    /// same is true for [`tear_off`](crate::ObjectHandle::tear_off), unless the object is hidden from the
    /// client before the client learns of the tear-off.
    ///
    /// Reliable calls of one object arrive in the order in which they were made. If an object is despawned
    /// after a reliable call was sent, the client receives the call before it removes the object. An
    /// unreliable call is dropped if it arrives after the removal, or in the same packet.
    ///
    /// Do not use a call for the end of a short-lived object, for example the explosion of a shell. Send a
    /// message instead, or make the call on an object that is not despawned.
    ///
    /// At most 4,096 calls, with together at most 1 MiB, wait for a client. If a reliable `multicast` call
    /// exceeds this, the connection of that client ends with
    /// [`Unacknowledged`](crate::DisconnectReason::Unacknowledged).
    ///
    /// # Panics
    /// Panics if the calls of the class are not [registered](Self::register_calls).
    #[track_caller]
    pub fn call<T: Rpcs>(&mut self, object: ObjectRef<T>) -> T::Caller<'_> {
        channels::assert_registered::<ConnectionId, T>(&self.sessions.mailbox);
        T::caller(CallSender::new(CallMaker::Server(self), object))
    }

    /// Queues a call for the side or the sides that will run it.
    pub(super) fn send_call<T: Rpcs>(
        &mut self,
        object: ObjectRef<T>,
        call: T::Call,
    ) -> Result<(), CallError> {
        let guid = self.guid_of(object).ok_or(CallError::Gone)?;
        let Some(entry) = T::CALLS.entry(T::number(&call)) else { return Ok(()) };
        if entry.kind == CallKind::Server {
            self.queue_own(object, call, entry.is_reliable);
            return Ok(());
        }
        if self.object_info(object).is_torn_off() {
            return Err(CallError::Gone);
        }
        if entry.kind == CallKind::Client && self.is_owned_by_host(object) {
            return self.send_call_to_host(object, &call, entry);
        }
        let channel = self.sessions.mailbox.channel(channels::key::<T>(entry.is_reliable));
        let channel = channel.ok_or(CallError::NotConnected)?;
        let mut writer = std::mem::take(&mut self.call_writer);
        writer.clear();
        let result = inbox::write(object, &call, &mut writer).map_err(CallError::from).and_then(|()| {
            if entry.kind == CallKind::Client {
                let owner = self.object_info(object).owner().ok_or(CallError::NoOwner)?;
                return Ok(self.send_call_to_owner(owner, guid, channel, &mut writer)?);
            }
            self.send_call_to_all(guid, channel, entry.is_reliable, &mut writer)?;
            if self.host.is_some() && !self.can_run_for_host::<T>(Some(entry)) {
                self.send_call_to_host(object, &call, entry)?;
            }
            self.queue_own(object, call, entry.is_reliable);
            Ok(())
        });
        self.call_writer = writer;
        result
    }

    fn inbox<T: Rpcs>(&mut self, is_reliable: bool) -> Option<&mut Inbox<T>> {
        self.sessions.mailbox.inbox_mut(channels::key::<T>(is_reliable))
    }

    fn queue_own<T: Rpcs>(&mut self, object: ObjectRef<T>, call: T::Call, is_reliable: bool) {
        if let Some(inbox) = self.inbox::<T>(is_reliable) {
            inbox.push_own(object, call);
        }
    }

    /// Returns the next call of a class that may run: the client that made it owns the object, and the
    /// validator accepts it. Returns `None` if there are no more calls. The next [`tick`](Self::tick) runs
    /// the calls that were not polled, except calls without a body, which wait until they are polled. If a
    /// call is polled, its body runs only if the program passes the call to [`run_call`](Self::run_call).
    ///
    /// # Panics
    /// Panics if the calls of the class are not [registered](Self::register_calls).
    #[track_caller]
    pub fn poll_call<T: Rpcs>(&mut self) -> Option<ReceivedCall<T, T::Call>> {
        channels::assert_registered::<ConnectionId, T>(&self.sessions.mailbox);
        for is_reliable in [true, false] {
            while let Some(received) = self.inbox::<T>(is_reliable)?.pop() {
                if self.admits(received.object, received.caller, &received.call) {
                    return Some(received);
                }
            }
        }
        None
    }

    /// Runs the body of a call that was [polled](Self::poll_call). Does nothing if the object of the call no
    /// longer exists, or if the client that made the call no longer owns the object.
    ///
    /// Returns the call if it has no body, or if its object is [outside of the
    /// server](Self::register_external). In this case the program must handle the call.
    #[must_use = "a call without a body is returned"]
    pub fn run_call<T: Rpcs>(
        &mut self,
        received: ReceivedCall<T, T::Call>,
    ) -> Option<ReceivedCall<T, T::Call>> {
        let entry = T::CALLS.entry(T::number(&received.call));
        if self.is_external::<T>() || entry.is_none_or(|entry| entry.is_polled) {
            return Some(received);
        }
        let ReceivedCall { object, caller, call } = received;
        if self.may_run(object, caller) {
            self.timed_call(caller, |server| {
                T::run(Invocation::new(CallSide::Server(server), object, caller), call);
            });
        }
        None
    }

    /// Runs the calls of a class that were not polled. A call that is made by a running function runs in the
    /// next tick, so two functions that call each other do not loop forever.
    fn run_calls<T: Rpcs>(&mut self, now: Duration) {
        if self.host.is_some() {
            self.run_calls_for_host::<T>(now);
        }
        let is_external = self.is_external::<T>();
        for is_reliable in [true, false] {
            let Some(inbox) = self.inbox::<T>(is_reliable) else { continue };
            inbox.begin_run();
            while let Some(queued) = self.inbox::<T>(is_reliable).and_then(Inbox::next_to_run) {
                let entry = T::CALLS.entry(T::number(&queued.call));
                let is_polled = is_external || entry.is_some_and(|entry| entry.is_polled);
                if is_polled || queued.from.is_some_and(|from| !self.has_call_time(from, now)) {
                    if let Some(inbox) = self.inbox::<T>(is_reliable) {
                        inbox.keep(queued);
                    }
                    continue;
                }
                let Queued { from, object, call } = queued;
                self.timed_call(from, |server| {
                    if server.admits(object, from, &call) {
                        T::run(Invocation::new(CallSide::Server(server), object, from), call);
                    }
                });
            }
            self.inbox::<T>(is_reliable).map(Inbox::end_run);
        }
    }

    /// Returns whether a call may run. If the validator of the call rejects it, the connection ends (S221).
    fn admits<T: Rpcs>(
        &mut self,
        object: ObjectRef<T>,
        caller: Option<ConnectionId>,
        call: &T::Call,
    ) -> bool {
        if !self.may_run(object, caller) {
            return false;
        }
        let Some(caller) = caller else { return true };
        let is_allowed = self.get(object).is_none_or(|object| object.allows(caller, call));
        if !is_allowed {
            let name = T::CALLS.entry(T::number(call)).map_or("?", |entry| entry.name);
            self.reject(caller, name);
        }
        is_allowed
    }

    /// Returns whether `caller` may call functions of an object now. If it does not own the object, the call
    /// does not run and is only counted (S214).
    fn may_run<T: Rpcs>(&mut self, object: ObjectRef<T>, caller: Option<ConnectionId>) -> bool {
        let exists = self.guid_of(object).is_some();
        let Some(caller) = caller else { return exists };
        if !self.is_live(caller) {
            return false;
        }
        let info = self.object_info(object);
        let is_owner = exists && info.owner() == Some(caller) && !info.is_torn_off();
        if !is_owner {
            self.count_ignored_call(caller);
        }
        is_owner
    }
}
