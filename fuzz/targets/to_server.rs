#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    repl_fuzz::to_server::run(data);
});
