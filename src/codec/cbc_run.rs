//! One run of CBC (NIST SP 800-38A) over data of any length from one block up, in place.
//!
//! Whole blocks are plain CBC. A rest is handled by ciphertext stealing, variant CBC-CS2 of the
//! addendum to SP 800-38A: only when there is a rest, the last two blocks swap places, and the last
//! one is cut to the length of the rest. Which bytes of a page make a run is the schemes' matter.

use cbc::cipher::common::BlockSizeUser;
use cbc::cipher::consts::U16;
use cbc::cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit,
};

/// Encrypts a run.
///
/// # Panics
/// When there is a rest and no whole block before it.
pub fn encrypt<C>(aes: &C, iv: &[u8; 16], data: &mut [u8])
where
    C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>,
{
    let (blocks, rest) = Array::slice_as_chunks_mut(data);
    cbc::Encryptor::inner_iv_init(aes, iv.into()).encrypt_blocks(blocks);
    if rest.is_empty() {
        return;
    }
    let last = blocks.last_mut().expect("a run has a whole block");
    for (byte, plain) in last.iter_mut().zip(rest) {
        let stolen = *byte;
        *byte ^= *plain;
        *plain = stolen;
    }
    aes.encrypt_block(last);
}

/// Decrypts a run.
///
/// # Panics
/// When there is a rest and no whole block before it.
pub fn decrypt<C>(aes: &C, iv: &[u8; 16], data: &mut [u8])
where
    C: BlockCipherDecrypt + BlockSizeUser<BlockSize = U16>,
{
    let (blocks, rest) = Array::slice_as_chunks_mut(data);
    if !rest.is_empty() {
        let last = blocks.last_mut().expect("a run has a whole block");
        aes.decrypt_block(last);
        for (byte, stolen) in last.iter_mut().zip(rest) {
            let mixed = *byte;
            *byte = *stolen;
            *stolen ^= mixed;
        }
    }
    cbc::Decryptor::inner_iv_init(aes, iv.into()).decrypt_blocks(blocks);
}
