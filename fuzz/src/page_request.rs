//! A fuzzer of the request with which a web page asks for a session. It is the only thing on the streams of a
//! browser that a server reads.
//!
//! *Invariant:* what is read as a request can be written, and is then read as the same request.

use web_transport_proto::ConnectRequest;

/// The greatest size in bytes of a request that a server reads.
const MOST: usize = 4 << 10;

/// Reads a request. Returns whether it is one.
pub fn run(data: &[u8]) -> bool {
    let Ok(request) = ConnectRequest::decode(&mut &data[..data.len().min(MOST)]) else { return false };
    let mut again = Vec::new();
    if request.encode(&mut again).is_ok() {
        let read = ConnectRequest::decode(&mut &*again).expect("it was written as a request");
        assert_eq!((read.url, read.headers.get("origin")), (request.url, request.headers.get("origin")));
    }
    true
}

/// Returns a request with these fields, each with a name and a value of less than 64 bytes: a frame of HTTP/3
/// with literals of QPACK.
pub fn written(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut content = vec![0, 0];
    for (name, value) in fields {
        // The length of a name of 7 bytes or more continues in the next byte.
        match name.len() {
            short @ 0..7 => content.push(0x20 | short as u8),
            long => content.extend([0x27, long as u8 - 7]),
        }
        content.extend_from_slice(name.as_bytes());
        content.push(value.len() as u8);
        content.extend_from_slice(value.as_bytes());
    }
    let [high, low] = (content.len() as u16).to_be_bytes();
    [&[1, 0x40 | high, low][..], &content].concat()
}
