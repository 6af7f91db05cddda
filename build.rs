//! Sets what a Node addon needs at link time.
fn main() {
    napi_build::setup();
}
