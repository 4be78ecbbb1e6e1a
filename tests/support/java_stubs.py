"""Classes in Java that generated models name and that are in no package of Debian."""

JAVA_STUBS = {
    "javax/annotation/Generated.java": """package javax.annotation;
public @interface Generated { String[] value(); String date() default ""; String comments() default ""; }
""",
    "io/gsonfire/GsonFireBuilder.java": """package io.gsonfire;
public class GsonFireBuilder {
  public <T> GsonFireBuilder registerTypeSelector(Class<T> type, TypeSelector<T> selector) { return this; }
  public com.google.gson.GsonBuilder createGsonBuilder() { return new com.google.gson.GsonBuilder(); }
}
""",
    "io/gsonfire/TypeSelector.java": """package io.gsonfire;
public interface TypeSelector<T> { Class<? extends T> getClassForElement(com.google.gson.JsonElement element); }
""",
    "okio/ByteString.java": """package okio;
public class ByteString {
  public static ByteString of(byte... bytes) { return new ByteString(); }
  public static ByteString decodeBase64(String text) { return new ByteString(); }
  public String base64() { return ""; }
  public byte[] toByteArray() { return new byte[0]; }
}
""",
    "org/openapitools/jackson/nullable/JsonNullable.java": """package org.openapitools.jackson.nullable;
public class JsonNullable<T> {
  public boolean isPresent() { return false; }
  public T get() { return null; }
}
""",
}
