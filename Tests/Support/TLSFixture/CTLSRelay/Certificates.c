#include "Certificates.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>

static const long day = 24 * 60 * 60;

static int add_extension(X509 *certificate, X509 *issuer, int nid, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    if (extension == NULL) return 0;
    int done = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return done;
}

/// A certificate for `key`, signed by the issuer, or by itself where there is none.
static X509 *make_certificate(
    EVP_PKEY *key, const char *name, const char *hosts, long from, long until, X509 *issuer, EVP_PKEY *issuer_key) {
    X509 *certificate = X509_new();
    if (certificate == NULL) return NULL;
    uint32_t serial = 0;
    RAND_bytes((unsigned char *)&serial, sizeof serial);
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), (long)(serial >> 1) + 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), from);
    X509_gmtime_adj(X509_getm_notAfter(certificate), until);
    X509_set_pubkey(certificate, key);
    X509_NAME *subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
    X509 *signer = issuer != NULL ? issuer : certificate;
    X509_set_issuer_name(certificate, X509_get_subject_name(signer));
    int done;
    if (hosts == NULL) {
        done = add_extension(certificate, signer, NID_basic_constraints, "critical,CA:TRUE")
            && add_extension(certificate, signer, NID_key_usage, "critical,keyCertSign,cRLSign")
            && add_extension(certificate, signer, NID_subject_key_identifier, "hash");
    } else {
        done = add_extension(certificate, signer, NID_basic_constraints, "critical,CA:FALSE")
            && add_extension(certificate, signer, NID_key_usage, "critical,digitalSignature")
            && add_extension(certificate, signer, NID_ext_key_usage, "serverAuth")
            && add_extension(certificate, signer, NID_subject_alt_name, hosts);
    }
    if (!done || X509_sign(certificate, issuer_key != NULL ? issuer_key : key, EVP_sha256()) == 0) {
        X509_free(certificate);
        return NULL;
    }
    return certificate;
}

static int write_pem(X509 *certificate, const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL) return 0;
    int done = PEM_write_X509(file, certificate);
    return fclose(file) == 0 && done;
}

int certificates_install(SSL_CTX *context, tls_identity identity, const char *ca_path) {
    int done = 0;
    EVP_PKEY *root_key = EVP_EC_gen("P-256");
    EVP_PKEY *other_key = EVP_EC_gen("P-256");
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *root = NULL, *other = NULL, *leaf = NULL;
    if (root_key == NULL || other_key == NULL || key == NULL) goto end;
    root = make_certificate(root_key, "Refrain test root", NULL, -30 * day, 30 * day, NULL, NULL);
    other = make_certificate(other_key, "Unknown test root", NULL, -30 * day, 30 * day, NULL, NULL);
    if (root == NULL || other == NULL || !write_pem(root, ca_path)) goto end;

    const char *hosts = identity == TLS_IDENTITY_WRONG_HOST
        ? "DNS:wrong.example" : "DNS:localhost,IP:127.0.0.1,IP:::1";
    long from = identity == TLS_IDENTITY_NOT_YET_VALID ? day : -10 * day;
    long until = identity == TLS_IDENTITY_EXPIRED ? -day : 10 * day;
    X509 *issuer = identity == TLS_IDENTITY_UNTRUSTED_ROOT ? other : root;
    EVP_PKEY *issuer_key = identity == TLS_IDENTITY_UNTRUSTED_ROOT ? other_key : root_key;
    if (identity == TLS_IDENTITY_SELF_SIGNED) issuer = NULL, issuer_key = NULL;
    leaf = make_certificate(key, "localhost", hosts, from, until, issuer, issuer_key);
    done = leaf != NULL && SSL_CTX_use_certificate(context, leaf) == 1
        && SSL_CTX_use_PrivateKey(context, key) == 1;
end:
    X509_free(leaf);
    X509_free(other);
    X509_free(root);
    EVP_PKEY_free(key);
    EVP_PKEY_free(other_key);
    EVP_PKEY_free(root_key);
    return done;
}
