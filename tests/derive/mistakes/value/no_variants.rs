use repl::NetSerialize;

#[derive(NetSerialize, Clone)]
enum Nothing {}

fn main() {}
