//! Server and client.
