//! One WebTransport session of the browser.
//!
//! *Invariant:* every promise of the session has a handler, so the browser reports no unhandled rejection.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::futures::{JsFuture, spawn_local};
use js_sys::{Array, Object, Reflect, Uint8Array};
use send_wrapper::SendWrapper;
use wasm_bindgen::{JsCast, JsValue};

use super::bindings::{Chunk, Datagrams, NO_EFFECT, Readable, WebTransport, Writer};
use super::ends::{End, unsupported};
use super::inbox::Inbox;
use crate::hash::CertificateHash;

/// If more datagrams wait in the browser, the next ones are dropped. That happens if the browser's congestion
/// control allows less than the client sends.
const MOST_WAITING: f64 = 64.0;

/// How many datagrams the browser stores while the page is busy, if it allows to set this.
const MOST_UNREAD: u32 = 1_024;

/// A WebTransport session. It is closed when it is dropped.
pub(super) struct WebSession(SendWrapper<Parts>);

struct Parts {
    transport: WebTransport,
    datagrams: Datagrams,
    writer: Writer,
    state: Rc<RefCell<State>>,
}

/// What the handlers of the session's promises have learned.
#[derive(Default)]
struct State {
    is_open: bool,
    end: Option<End>,
    inbox: Inbox,
}

/// Returns an error that says what to do, if the page cannot use WebTransport.
pub(super) fn check_support() -> Result<(), &'static str> {
    let global = js_sys::global();
    if Reflect::has(&global, &"WebTransport".into()).unwrap_or(false) {
        return Ok(());
    }
    Err(unsupported(field(&global, "isSecureContext") == JsValue::TRUE))
}

impl WebSession {
    /// Begins to open a session. If there are `hashes`, the certificate of the server must have one of them.
    /// Otherwise the browser checks its name and its signatures.
    ///
    /// # Errors
    /// Returns the browser's text if it does not accept the URL or the hashes.
    pub(super) fn open(url: &str, hashes: &[CertificateHash]) -> Result<Self, String> {
        let transport = WebTransport::new(url, &options(hashes)).map_err(|error| text_of(&error))?;
        let datagrams = transport.datagrams();
        datagrams.set_incoming_high_water_mark(MOST_UNREAD);
        let writer = datagrams.writable().unwrap_or_else(|| datagrams.create_writable()).writer();
        let state = Rc::default();
        spawn_local(watch(&transport, Rc::clone(&state)));
        spawn_local(read(datagrams.readable(), Rc::clone(&state)));
        Ok(Self(SendWrapper::new(Parts { transport, datagrams, writer, state })))
    }

    pub(super) fn is_open(&self) -> bool {
        self.0.state.borrow().is_open
    }

    /// Returns the end of the session, once.
    pub(super) fn take_end(&self) -> Option<End> {
        self.0.state.borrow_mut().end.take()
    }

    /// Returns the greatest size of a datagram, in bytes.
    pub(super) fn max_bytes(&self) -> usize {
        self.0.datagrams.max_datagram_size().try_into().unwrap_or(usize::MAX)
    }

    /// Returns the next datagram that has arrived.
    pub(super) fn receive(&self) -> Option<Vec<u8>> {
        self.0.state.borrow_mut().inbox.pop()
    }

    /// Sends a datagram. It is dropped if too many wait already, or if the session has ended.
    pub(super) fn send(&self, datagram: &[u8]) {
        let writer = &self.0.writer;
        if writer.desired_size().is_some_and(|size| size > -MOST_WAITING) {
            let written = writer.write(&Uint8Array::from(datagram));
            NO_EFFECT.with(|no_effect| written.catch(no_effect));
        }
    }

    /// Closes the session. Does nothing if it has ended.
    pub(super) fn close(&self, code: u32, text: &str) {
        let info = object(&[("closeCode", code.into()), ("reason", text.into())]);
        self.0.transport.close(&info).ok();
    }
}

impl Drop for WebSession {
    fn drop(&mut self) {
        self.close(crate::closing::OVER, "the client does not need the connection any more");
    }
}

/// Waits until the session is open, and until it ends.
fn watch(transport: &WebTransport, state: Rc<RefCell<State>>) -> impl Future<Output = ()> + use<> {
    // Both promises get their handlers now, because both are rejected if the session cannot be opened.
    let (ready, closed) = (JsFuture::from(transport.ready()), JsFuture::from(transport.closed()));
    async move {
        let is_open = ready.await.is_ok();
        state.borrow_mut().is_open = is_open;
        let end = match closed.await {
            Ok(info) => {
                let code = field(&info, "closeCode").as_f64().unwrap_or_default();
                End::Closed(code as u32, field(&info, "reason").as_string().unwrap_or_default())
            }
            Err(_) if is_open => End::Lost,
            Err(error) => End::NotOpened(text_of(&error)),
        };
        state.borrow_mut().end = Some(end);
    }
}

/// Stores the datagrams that arrive, until the session ends.
async fn read(readable: Readable, state: Rc<RefCell<State>>) {
    let reader = readable.reader();
    while let Ok(chunk) = reader.read().await {
        let Some(datagram) = chunk.unchecked_into::<Chunk>().value() else { return };
        state.borrow_mut().inbox.push(datagram.to_vec());
    }
}

/// Returns the options of a session: a connection of its own, over QUIC.
fn options(hashes: &[CertificateHash]) -> Object {
    let options = object(&[
        ("allowPooling", false.into()),
        ("requireUnreliable", true.into()),
        ("congestionControl", "low-latency".into()),
    ]);
    // An empty list would mean the same as no list: that the browser trusts its authorities.
    if !hashes.is_empty() {
        let hash = |hash: &CertificateHash| {
            object(&[("algorithm", "sha-256".into()), ("value", Uint8Array::from(&hash.0[..]).into())])
        };
        let hashes: Array = hashes.iter().map(hash).collect();
        Reflect::set(&options, &"serverCertificateHashes".into(), &hashes).ok();
    }
    options
}

fn object(fields: &[(&str, JsValue)]) -> Object {
    let object = Object::new();
    for (name, value) in fields {
        // A new object accepts every field.
        Reflect::set(&object, &(*name).into(), value).ok();
    }
    object
}

fn field(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).unwrap_or_default()
}

fn text_of(error: &JsValue) -> String {
    field(error, "message").as_string().unwrap_or_default()
}
