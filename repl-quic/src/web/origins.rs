//! Which web pages may connect.
//!
//! *Invariant:* without the user's word, no page may connect.

/// The origins of the web pages whose players a server accepts. The origin of a page is the beginning of its
/// address: the scheme, the name and the port, for example `https://play.example.com` or
/// `http://localhost:8000`. The browser tells it to the server, and a page cannot forge it. Programs that are
/// not browsers can, so this protects the players of other pages, not the server.
///
/// Default: no page is accepted, and the server does not even offer HTTP/3.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebOrigins(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Any,
    Only(Vec<String>),
}

impl Default for Kind {
    fn default() -> Self {
        Self::Only(Vec::new())
    }
}

impl WebOrigins {
    /// Accepts no web page.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Accepts every web page, as a server accepts every native client.
    #[must_use]
    pub fn any() -> Self {
        Self(Kind::Any)
    }

    /// Accepts only pages with these origins, for example `["https://play.example.com"]`. Their letters may
    /// be upper or lower case.
    ///
    /// # Panics
    /// Panics if a text is not an origin: it has no scheme, or has a path (even if it is only `/`).
    #[must_use]
    #[track_caller]
    pub fn only(origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let origins: Vec<String> = origins.into_iter().map(Into::into).collect();
        for origin in &origins {
            let name = origin.split_once("://").map(|(_, name)| name);
            assert!(
                name.is_some_and(|name| !name.is_empty() && !name.contains('/')),
                "{origin:?} is no origin of a web page: write the scheme, the name and the port, for example \
                 \"https://play.example.com\", without a path"
            );
        }
        Self(Kind::Only(origins))
    }

    /// Returns whether any page may connect.
    pub(crate) fn are_some(&self) -> bool {
        !matches!(&self.0, Kind::Only(origins) if origins.is_empty())
    }

    /// Returns whether a page with this origin may connect.
    pub(crate) fn contains(&self, origin: Option<&str>) -> bool {
        match &self.0 {
            Kind::Any => true,
            Kind::Only(origins) => {
                origin.is_some_and(|origin| origins.iter().any(|own| own.eq_ignore_ascii_case(origin)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_origins_are_accepted() {
        let origins = WebOrigins::only(["https://play.example.com", "http://localhost:8000"]);
        let contains = |origin| origins.contains(Some(origin));
        assert!(contains("https://play.example.com") && contains("HTTP://LOCALHOST:8000"));
        for other in ["http://play.example.com", "http://localhost", "https://play.example.com.evil.org", ""] {
            assert!(!contains(other), "{other}");
        }
        assert!(!origins.contains(None) && !WebOrigins::none().contains(Some("https://play.example.com")));
        assert!(WebOrigins::any().contains(None) && WebOrigins::any().contains(Some("null")));
        assert!(!WebOrigins::none().are_some() && origins.are_some() && WebOrigins::any().are_some());
    }

    #[test]
    #[should_panic(expected = "\"https://play.example.com/\" is no origin of a web page")]
    fn an_origin_has_no_path() {
        let _ = WebOrigins::only(["https://play.example.com/"]);
    }
}
