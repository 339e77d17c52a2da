//! The address of a server as a browser wants it: a URL with a name or an IP address.
//!
//! *Invariant:* the URL has a host and a port, and nothing else that a program could have put into them.

use std::net::{IpAddr, SocketAddr};

/// The greatest length of a name in the domain name system, in bytes.
const MOST_NAME_BYTES: usize = 253;

/// Returns whether `name` can be the name of a server: a name of the domain name system, or an IP address.
pub(crate) fn is_name(name: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
    let labels_have_letters = || name.trim_end_matches('.').split('.').all(|label| !label.is_empty());
    name.parse::<IpAddr>().is_ok()
        || (name.len() <= MOST_NAME_BYTES && name.bytes().all(is_letter) && labels_have_letters())
}

/// Returns the URL of a server. The browser resolves `name`. Without a name, the URL contains the IP address
/// of `server`.
pub(crate) fn url(server: SocketAddr, name: Option<&str>) -> String {
    let port = server.port();
    match name.map(|name| (name, name.parse::<IpAddr>())) {
        None => format!("https://{}/", SocketAddr::new(server.ip(), port)),
        Some((_, Ok(ip))) => format!("https://{}/", SocketAddr::new(ip, port)),
        Some((name, Err(_))) => format!("https://{name}:{port}/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_scheme_and_no_port() {
        for name in ["play.example.com", "localhost", "a-b.example.", "10.0.0.1", "::1", "x_1"] {
            assert!(is_name(name), "{name}");
        }
        let long = "a".repeat(254);
        for name in ["", ".", "a..b", "https://a.example", "a.example:7777", "a/b", "a b", "[::1]", &long] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn a_url_has_the_name_or_the_address() {
        let (four, six) = ("10.0.0.1:7777".parse(), "[fe80::1%3]:7777".parse());
        let (four, six) = (four.expect("an address"), six.expect("an address"));
        assert_eq!(url(four, None), "https://10.0.0.1:7777/");
        assert_eq!(url(six, None), "https://[fe80::1]:7777/");
        assert_eq!(url(four, Some("play.example.com")), "https://play.example.com:7777/");
        assert_eq!(url(four, Some("10.0.0.2")), "https://10.0.0.2:7777/");
        assert_eq!(url(four, Some("::1")), "https://[::1]:7777/");
    }
}
