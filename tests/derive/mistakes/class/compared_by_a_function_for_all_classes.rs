use repl::prelude::*;

fn hand_over<T: Replicated>(server: &mut Server, object: ObjectRef<T>, live: &T) {
    server.external().compare(object, live).unwrap();
}

fn main() {}
