//! The parts of the browser's WebTransport and streams that the client uses.
//!
//! *Invariant:* the names and types are those of the W3C's WebTransport and the WHATWG's Streams.

use js_sys::{Function, Object, Promise, Uint8Array};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// One session. The browser connects as soon as it is made.
    #[derive(Clone)]
    pub(super) type WebTransport;

    #[wasm_bindgen(constructor, catch)]
    pub(super) fn new(url: &str, options: &Object) -> Result<WebTransport, JsValue>;

    #[wasm_bindgen(method, getter)]
    pub(super) fn ready(this: &WebTransport) -> Promise;

    #[wasm_bindgen(method, getter)]
    pub(super) fn closed(this: &WebTransport) -> Promise;

    #[wasm_bindgen(method, getter)]
    pub(super) fn datagrams(this: &WebTransport) -> Datagrams;

    #[wasm_bindgen(method, catch)]
    pub(super) fn close(this: &WebTransport, info: &Object) -> Result<(), JsValue>;

    /// The datagrams of a session, in both directions.
    pub(super) type Datagrams;

    #[wasm_bindgen(method, getter, js_name = maxDatagramSize)]
    pub(super) fn max_datagram_size(this: &Datagrams) -> u32;

    #[wasm_bindgen(method, setter, js_name = incomingHighWaterMark)]
    pub(super) fn set_incoming_high_water_mark(this: &Datagrams, datagrams: u32);

    #[wasm_bindgen(method, getter)]
    pub(super) fn readable(this: &Datagrams) -> Readable;

    /// The older form of `createWritable`.
    #[wasm_bindgen(method, getter)]
    pub(super) fn writable(this: &Datagrams) -> Option<Writable>;

    #[wasm_bindgen(method, js_name = createWritable)]
    pub(super) fn create_writable(this: &Datagrams) -> Writable;

    pub(super) type Readable;

    #[wasm_bindgen(method, js_name = getReader)]
    pub(super) fn reader(this: &Readable) -> Reader;

    pub(super) type Reader;

    /// Returns a promise of a [`Chunk`].
    #[wasm_bindgen(method)]
    pub(super) fn read(this: &Reader) -> Promise;

    pub(super) type Chunk;

    /// `None` after the last datagram.
    #[wasm_bindgen(method, getter)]
    pub(super) fn value(this: &Chunk) -> Option<Uint8Array>;

    pub(super) type Writable;

    #[wasm_bindgen(method, js_name = getWriter)]
    pub(super) fn writer(this: &Writable) -> Writer;

    pub(super) type Writer;

    /// The number of datagrams that the stream wants. It is negative if datagrams wait.
    #[wasm_bindgen(method, getter, js_name = desiredSize)]
    pub(super) fn desired_size(this: &Writer) -> Option<f64>;

    #[wasm_bindgen(method)]
    pub(super) fn write(this: &Writer, datagram: &Uint8Array) -> Written;

    /// The promise that a datagram was written.
    pub(super) type Written;

    #[wasm_bindgen(method)]
    pub(super) fn catch(this: &Written, handler: &Function);

    /// A function that has no effect, for rejected promises that nobody waits for.
    #[wasm_bindgen(thread_local_v2, js_name = Boolean)]
    pub(super) static NO_EFFECT: Function;
}
